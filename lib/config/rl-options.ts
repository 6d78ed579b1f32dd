import { z } from 'zod'
import { episodeOptions, settingOptions, slateOptions } from './episode-options.js'
import { type OptionSet, type OptionsIn, type OptionsOut, optionFacts } from './option.js'
import { engineOptions, listOption, optimizerOptions, programOptions, runOptions } from './shared-options.js'

/** The names of `creditMethods`. */
export const methodNames = [
  'skillgate',
  'skillgate-auto',
  'grpo',
  'skill-free',
  'masked-task-only',
  'first-oracle',
  'trajectory-bonus',
] as const

const shape = {
  ...settingOptions,
  tasks: listOption().register(optionFacts, {
    section: 'Model and data',
    about: 'training tasks: one JSON object a line, with id, prompt and (for a slate) oracle',
    expects: 'the path of a JSONL file, or an array of tasks',
    path: true,
    mayChange: 'freely',
  }),
  heldOut: listOption().optional().register(optionFacts, {
    section: 'Model and data',
    about: 'tasks for evaluation, in the same form; none of them is trained on',
    expects: 'the path of a JSONL file, or an array of tasks',
    path: true,
    mayChange: 'freely',
  }),
  method: z
    .enum(methodNames)
    .default('skillgate')
    .register(optionFacts, { section: 'Method', about: 'how credit is assigned' }),
  groupsPerStep: z.int().min(1).max(4096).default(16).register(optionFacts, {
    section: 'Method',
    about: 'tasks in a step',
    unit: 'groups',
  }),
  groupSize: z.int().min(2).max(1024).default(8).register(optionFacts, {
    section: 'Method',
    about: 'rollouts of each task, compared with each other',
    unit: 'rollouts',
  }),
  selectorCoefficient: z.number().min(0).max(100).default(0.2).register(optionFacts, {
    section: 'Method',
    about: 'weight of the selection channel against the execution channel (lambda)',
  }),
  ...slateOptions,
  dynamicSampling: z.boolean().default(true).register(optionFacts, {
    section: 'Method',
    about: 'drop a group whose rewards are all equal and draw another task',
  }),
  overSampling: z.number().min(1).max(100).default(2).register(optionFacts, {
    section: 'Method',
    about: 'groups drawn in a step, at most, as a multiple of groupsPerStep; then it trains on what there is',
  }),

  temperature: z.number().positive().max(100).default(1).register(optionFacts, {
    section: 'Rollouts',
    about: 'sampling temperature, the same in the loss',
    expects: 'a number above 0, to 100 (at 0 there is nothing to learn from: all rollouts are alike)',
  }),
  topP: z.literal(1).default(1).register(optionFacts, {
    section: 'Rollouts',
    about: 'must be 1 in training',
    expects: '1 (a smaller one samples from another distribution than the one the loss is computed for)',
  }),
  ...episodeOptions,

  learningRate: z.number().positive().max(1).default(1e-6).register(optionFacts, {
    section: 'Update',
    about: 'learning rate after warm-up',
  }),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('constant').register(optionFacts, {
    section: 'Update',
    about: 'how the learning rate goes on after warm-up; linear and cosine end at 0 with the last step',
  }),
  ...optimizerOptions,
  clipLow: z.number().min(0).lt(1).default(0.2).register(optionFacts, {
    section: 'Update',
    about: 'the probability ratio is clipped below 1 - clipLow',
  }),
  clipHigh: z.number().min(0).max(100).default(0.28).register(optionFacts, {
    section: 'Update',
    about: 'and above 1 + clipHigh',
  }),
  dualClip: z.number().gt(1).optional().register(optionFacts, {
    section: 'Update',
    about: 'bounds the loss of a token with negative advantage to this multiple of it; absent: no bound',
  }),
  kl: z.enum(['k1', 'k2', 'k3']).default('k3').register(optionFacts, {
    section: 'Update',
    about: 'estimator of the divergence from the initial weights',
  }),
  klCoefficient: z.number().min(0).max(100).default(3e-5).register(optionFacts, {
    section: 'Update',
    about: 'weight of that divergence; 0 loads no reference model',
  }),

  evalEvery: z.int().min(0).default(0).register(optionFacts, {
    section: 'Evaluation',
    about: 'evaluate on heldOut each so many steps; 0 never',
    unit: 'steps',
    mayChange: 'freely',
  }),
  evalTasks: z.int().min(1).default(64).register(optionFacts, {
    section: 'Evaluation',
    about: 'the first so many held-out tasks are used',
    unit: 'tasks',
    mayChange: 'freely',
  }),
  evalTrials: z.int().min(1).max(1024).default(1).register(optionFacts, {
    section: 'Evaluation',
    about: 'rollouts of each task',
    unit: 'rollouts',
    mayChange: 'freely',
  }),
  evalTemperature: z.number().min(0).max(100).default(1).register(optionFacts, {
    section: 'Evaluation',
    about: 'sampling temperature; 0 takes the most likely token',
    mayChange: 'freely',
  }),
  evalTopP: z.number().positive().max(1).default(0.7).register(optionFacts, {
    section: 'Evaluation',
    about: 'keep the smallest set of tokens whose probability reaches this',
    mayChange: 'freely',
  }),
  keepBest: z.enum(['none', 'success', 'reward', 'oracleRead']).default('none').register(optionFacts, {
    section: 'Evaluation',
    about: 'also keep the checkpoint that was best by this figure of the evaluation',
    mayChange: 'freely',
  }),

  ...runOptions,
  steps: z.int().min(1).max(10_000_000).default(100).register(optionFacts, {
    section: 'Run',
    about: 'optimizer steps in all',
    unit: 'steps',
    mayChange: 'freely',
  }),
  ...engineOptions,
  ...programOptions,
}

export type RlShape = typeof shape
export type RlOptionsIn = OptionsIn<RlShape>
export type RlOptions = OptionsOut<RlShape>

export const rlOptions: OptionSet<RlShape> = {
  recipe: 'train',
  shape,
  rules: [
    (o) =>
      o.evalEvery && o.heldOut === undefined
        ? `heldOut: expected tasks to evaluate on (evalEvery is ${o.evalEvery}), got nothing`
        : undefined,
    (o) =>
      o.keepBest && o.keepBest !== 'none' && o.evalEvery === 0
        ? `evalEvery: expected at least 1 (keepBest is "${o.keepBest}"), got 0`
        : undefined,
    (o) =>
      o.warmupSteps !== undefined && o.steps !== undefined && o.warmupSteps > o.steps
        ? `warmupSteps: expected at most the ${o.steps} steps of the run, got ${o.warmupSteps}`
        : undefined,
  ],
}
