import { z } from 'zod'
import { episodeOptions, settingOptions, slateOptions } from './episode-options.js'
import { type OptionSet, type OptionsIn, type OptionsOut, optionFacts } from './option.js'
import { engineOptions, optimizerOptions, programOptions } from './shared-options.js'
import {
  evaluationOptions,
  groupsPerStep,
  rateOptions,
  stepOptions,
  taskOptions,
  trainingRules,
} from './training-options.js'

/** The names of `creditMethods`. */
export const methodNames = [
  'skillgate',
  'skillgate-auto',
  'skillgate-once',
  'grpo',
  'skill-free',
  'masked-task-only',
  'first-oracle',
  'trajectory-bonus',
] as const

const shape = {
  ...settingOptions,
  ...taskOptions,
  method: z.enum(methodNames).default('skillgate').register(optionFacts, {
    section: 'Method',
    about: 'how credit is assigned; selection-bc and selection-dpo are commands of their own',
  }),
  groupsPerStep,
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
  dynamicSamplingBy: z.enum(['reward', 'credit']).default('reward').register(optionFacts, {
    section: 'Method',
    about:
      'credit: a group of equal rewards is kept where the method tells its reads apart, because there the choice is learned all the same',
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

  ...rateOptions,
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

  ...evaluationOptions,

  ...stepOptions,
  ...engineOptions,
  ...programOptions,
}

export type RlShape = typeof shape
export type RlOptionsIn = OptionsIn<RlShape>
export type RlOptions = OptionsOut<RlShape>

export const rlOptions: OptionSet<RlShape> = {
  recipe: 'train',
  shape,
  rules: trainingRules,
}
