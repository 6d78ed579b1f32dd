import { z } from 'zod'
import { functionOption, optionFacts, pathOption } from './option.js'
import { listOption } from './shared-options.js'

/** What episodes are played with: the model, the skills, the agent. */
export const settingOptions = {
  model: pathOption().register(optionFacts, {
    section: 'Model and data',
    about: 'Hugging Face folder: config.json, safetensors, tokenizer.json, tokenizer_config.json',
    expects: 'the path of a model folder',
    path: true,
    mayChange: 'freely',
  }),
  openPolicy: functionOption<(dir: string, options: never) => Promise<unknown>>()
    .optional()
    .register(optionFacts, {
      section: 'Model and data',
      about:
        'opens the policy of a model folder; without it the built-in engine does. The run disposes of it at its end',
      expects: 'an async function (dir, options) => Policy',
      programOnly: true,
      mayChange: 'freely',
    }),
  skills: listOption().optional().register(optionFacts, {
    section: 'Model and data',
    about: 'folder tree of SKILL.md files; without it no slate is shown',
    expects: 'the path of a folder, or an array of skills',
    path: true,
    mayChange: 'freely',
  }),
  agent: z
    .union([pathOption(), functionOption<(session: never, task: never) => Promise<unknown>>()])
    .register(optionFacts, {
      section: 'Model and data',
      about: 'plays one episode and returns its reward: a function, or the module whose default export it is',
      expects:
        'an async function (session, task) => reward, or the path of a module that exports one as default',
      path: true,
      mayChange: 'freely',
    }),
}

/** How a chat template is used. */
export const templateOptions = {
  history: z
    .enum(['append', 'rerender', 'strict'])
    .default('append')
    .register(optionFacts, {
      section: 'Model and data',
      about:
        'where a chat template would rewrite earlier turns: append keeps what was sampled, rerender goes on ' +
        'in a new sequence as a chat server would, strict refuses',
    }),
  thinking: z.boolean().default(false).register(optionFacts, {
    section: 'Model and data',
    about: 'what a chat template that knows thinking is told (enable_thinking)',
  }),
}

/** The candidates shown for a task without a slate of its own. */
export const slateOptions = {
  slateRelevant: z.int().min(0).max(1000).default(5).register(optionFacts, {
    section: 'Method',
    about: 'relevant skills in a slate, beside the oracle',
    unit: 'skills',
  }),
  slateIrrelevant: z.int().min(0).max(1000).default(5).register(optionFacts, {
    section: 'Method',
    about: 'irrelevant skills in a slate',
    unit: 'skills',
  }),
  slateMisleading: z.int().min(0).max(1000).default(5).register(optionFacts, {
    section: 'Method',
    about: 'misleading skills in a slate: ones that fit by name and lead astray',
    unit: 'skills',
  }),
}

/** The bounds of one episode. */
export const episodeOptions = {
  maxTurns: z.int().min(1).max(10_000).default(30).register(optionFacts, {
    section: 'Rollouts',
    about: 'assistant turns an episode may have',
    unit: 'turns',
  }),
  maxTokensPerTurn: z.int().min(1).default(4096).register(optionFacts, {
    section: 'Rollouts',
    about: 'tokens sampled in one assistant turn, at most',
    unit: 'tokens',
  }),
  maxTokens: z.int().min(2).default(71_680).register(optionFacts, {
    section: 'Rollouts',
    about: "length of an episode's context, prompt included; never more than the model takes",
    unit: 'tokens',
  }),
  rolloutDeadline: z.number().positive().max(86_400).default(850).register(optionFacts, {
    section: 'Rollouts',
    about: 'a rollout that takes longer is stopped and counted as failed',
    unit: 'seconds',
    mayChange: 'freely',
  }),
  concurrency: z.int().min(1).max(4096).default(16).register(optionFacts, {
    section: 'Rollouts',
    about: 'rollouts that run at the same time. No result depends on it',
    unit: 'rollouts',
    mayChange: 'freely',
  }),
  maxCallsPerTurn: z.int().min(1).max(1000).default(5).register(optionFacts, {
    section: 'Rollouts',
    about: 'tool calls of one turn that may run; those beyond count as malformed',
    unit: 'calls',
  }),
  maxResultTokens: z.int().min(64).optional().register(optionFacts, {
    section: 'Rollouts',
    about: 'a longer tool result keeps its head and its tail; absent: all of it',
    unit: 'tokens',
  }),
  readTools: z.array(z.string().min(1)).default(['read']).register(optionFacts, {
    section: 'Rollouts',
    about: 'tools whose argument is a path to read',
    expects: 'names of tools',
  }),
  execTools: z.array(z.string().min(1)).default(['exec']).register(optionFacts, {
    section: 'Rollouts',
    about: 'tools that run a command; one that prints a skill file reads the skill',
    expects: 'names of tools',
  }),
  ...templateOptions,
}
