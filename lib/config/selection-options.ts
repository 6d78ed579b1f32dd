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

const readTurn = z
  .string()
  .refine((text) => text.includes('{location}'))
  .optional()
  .register(optionFacts, {
    section: 'Method',
    about:
      'what the assistant writes to read a skill; absent: a call in JSON of the first of readTools that the agent offers, ' +
      'or of execTools',
    expects: 'a text with {location} in it',
  })

const bcShape = {
  ...settingOptions,
  ...taskOptions,
  groupsPerStep,
  readTurn,
  ...slateOptions,
  ...episodeOptions,
  ...rateOptions,
  ...optimizerOptions,
  ...evaluationOptions,
  ...stepOptions,
  ...engineOptions,
  ...programOptions,
}

const dpoShape = {
  ...settingOptions,
  ...taskOptions,
  groupsPerStep,
  beta: z.number().positive().max(100).default(0.1).register(optionFacts, {
    section: 'Method',
    about: 'how strongly the policy is held to the initial weights: the smaller, the further it may go',
  }),
  against: z.enum(['misleading', 'distractors']).default('misleading').register(optionFacts, {
    section: 'Method',
    about: 'what a right skill is preferred to: each misleading candidate, or each that is not right',
  }),
  readTurn,
  ...slateOptions,
  ...episodeOptions,
  ...rateOptions,
  ...optimizerOptions,
  ...evaluationOptions,
  ...stepOptions,
  ...engineOptions,
  ...programOptions,
}

export type SelectionBcShape = typeof bcShape
export type SelectionBcOptionsIn = OptionsIn<SelectionBcShape>
export type SelectionBcOptions = OptionsOut<SelectionBcShape>

export const selectionBcOptions: OptionSet<SelectionBcShape> = {
  recipe: 'selection-bc',
  shape: bcShape,
  rules: trainingRules,
}

export type SelectionDpoShape = typeof dpoShape
export type SelectionDpoOptionsIn = OptionsIn<SelectionDpoShape>
export type SelectionDpoOptions = OptionsOut<SelectionDpoShape>

export const selectionDpoOptions: OptionSet<SelectionDpoShape> = {
  recipe: 'selection-dpo',
  shape: dpoShape,
  rules: trainingRules,
}
