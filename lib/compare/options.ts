import { z } from 'zod'
import { type OptionSet, optionFacts, pathOption, type Shape } from '../config/option.js'
import { methodNames, rlOptions } from '../config/rl-options.js'

/** What a comparison can train, beside the methods of `train`: nothing at all, and the two that learn the choice from labels alone. */
export const comparedMethods = ['sft', ...methodNames, 'selection-bc', 'selection-dpo'] as const
export type ComparedMethod = (typeof comparedMethods)[number]

const {
  method: _,
  seed: __,
  output: ___,
  model: ____,
  resume: _____,
  agent,
  tasks,
  ...trained
} = rlOptions.shape

const share = () => z.number().min(0).max(1).default(0)

const own = {
  methods: z
    .array(z.enum(comparedMethods))
    .min(1)
    .default(['sft', 'grpo', 'skillgate'])
    .register(optionFacts, {
      section: 'Method',
      about: 'methods to compare; sft is the start itself, without reinforcement',
      expects: `names among ${comparedMethods.join(', ')}`,
    }),
  seeds: z.array(z.int().min(0)).min(1).default([0, 1, 2, 3, 4]).register(optionFacts, {
    section: 'Method',
    about: 'one run of each method with each of these seeds',
    expects: 'integers of 0 or more',
  }),
  baseline: z.string().default('grpo').register(optionFacts, {
    section: 'Method',
    about: 'the method that the others are compared with',
  }),
  from: pathOption().optional().register(optionFacts, {
    section: 'Model and data',
    about: 'model folder that every run starts from; absent: with skill-lab, one taught by demonstrations',
    expects: 'the path of a model folder',
    path: true,
  }),
  environment: z.enum(['skill-lab']).optional().register(optionFacts, {
    section: 'Model and data',
    about: 'a built-in environment; taken where no agent is given',
  }),
  environmentSeed: z.int().min(0).default(0).register(optionFacts, {
    section: 'Model and data',
    about: 'skill-lab: its tasks, and the start, follow from it',
  }),
  ownStarts: z.boolean().default(false).register(optionFacts, {
    section: 'Model and data',
    about:
      'skill-lab: every seed has a start of its own, so that the intervals over seeds hold for other starts, too',
  }),
  slateSize: z.int().min(4).max(64).default(16).register(optionFacts, {
    section: 'Model and data',
    about: 'skill-lab: candidates a task shows',
    unit: 'skills',
  }),
  horizon: z.int().min(1).max(8).default(1).register(optionFacts, {
    section: 'Model and data',
    about: 'skill-lab: how often a task asks for its steps, so that the execution is so many times as long',
  }),
  commandFailures: share().register(optionFacts, {
    section: 'Model and data',
    about:
      'skill-lab: probability that a command of a training episode breaks unseen, and with it the episode; none does in evaluation',
  }),
  wrongLabels: share().register(optionFacts, {
    section: 'Model and data',
    about:
      'skill-lab: share of the training tasks whose label names another candidate; tasks for evaluation keep theirs',
  }),
  missingLabels: share().register(optionFacts, {
    section: 'Model and data',
    about: 'skill-lab: share of the training tasks without a label',
  }),
  agent: agent.optional().register(optionFacts, { ...optionFacts.get(agent)! }),
  tasks: tasks.optional().register(optionFacts, { ...optionFacts.get(tasks)! }),
  output: pathOption().default('runs/compare').register(optionFacts, {
    section: 'Run',
    about: 'folder of all runs, tables and figures; what is finished in it is not done again',
    expects: 'the path of a folder',
    path: true,
  }),
  jobs: z.int().min(1).max(64).default(1).register(optionFacts, {
    section: 'Run',
    about:
      'runs at the same time, each a process of its own; set threads so that jobs x threads is the number of cores',
    unit: 'processes',
  }),
} satisfies Shape

const shape = { ...own, ...trained }

export type CompareShape = typeof shape

export const ownOptionNames = Object.keys(own)

export const compareOptions: OptionSet<CompareShape> = {
  recipe: 'compare',
  shape,
  rules: [
    (o) =>
      o.ownStarts && o.from !== undefined
        ? 'ownStarts: expected starts that are taught on skill-lab, got one that is given (from)'
        : undefined,
    (o) =>
      o.agent !== undefined && o.from === undefined
        ? 'from: expected the model folder that every run starts from, got nothing'
        : undefined,
    (o) =>
      o.agent !== undefined && (o.tasks === undefined || o.heldOut === undefined)
        ? 'heldOut: expected tasks to train on (tasks) and others to evaluate on (heldOut), got only one of them or none'
        : undefined,
    (o) =>
      new Set(o.methods).size < (o.methods?.length ?? 0) ? 'methods: expected each name once' : undefined,
    (o) => (new Set(o.seeds).size < (o.seeds?.length ?? 0) ? 'seeds: expected each number once' : undefined),
  ],
}
