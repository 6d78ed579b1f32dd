import { z } from 'zod'
import { settingOptions, templateOptions } from './episode-options.js'
import { type OptionSet, type OptionsIn, type OptionsOut, optionFacts } from './option.js'
import { engineOptions, listOption, optimizerOptions, programOptions, runOptions } from './shared-options.js'

const demonstrations = {
  section: 'Model and data',
  expects: 'the path of a JSONL file, or an array of demonstrations',
  path: true,
  mayChange: 'freely',
} as const

const shape = {
  model: settingOptions.model,
  openPolicy: settingOptions.openPolicy,
  demonstrations: listOption().register(optionFacts, {
    ...demonstrations,
    about:
      'conversations to imitate: one JSON object a line, with messages [{role, content}] and maybe tools, taskId',
  }),
  heldOut: listOption()
    .optional()
    .register(optionFacts, {
      ...demonstrations,
      about: 'conversations to measure the loss on, in the same form; none of them is trained on',
    }),

  ...templateOptions,

  epochs: z.number().positive().max(100_000).default(1).register(optionFacts, {
    section: 'Update',
    about: 'times each demonstration is seen; fractions are allowed',
    unit: 'epochs',
  }),
  batchSize: z.int().min(1).max(1_000_000).default(16).register(optionFacts, {
    section: 'Update',
    about: 'demonstrations in a step; those of one task stay together',
    unit: 'demonstrations',
  }),
  maxTokens: z.int().min(2).default(71_680).register(optionFacts, {
    section: 'Update',
    about: 'a longer demonstration is left out and counted; never more than the model takes',
    unit: 'tokens',
  }),
  learningRate: z.number().positive().max(1).default(1e-5).register(optionFacts, {
    section: 'Update',
    about: 'learning rate after warm-up',
  }),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('cosine').register(optionFacts, {
    section: 'Update',
    about: 'how the learning rate goes on after warm-up; linear and cosine end at 0 with the last step',
  }),
  ...optimizerOptions,

  evalEvery: z.int().min(0).default(0).register(optionFacts, {
    section: 'Evaluation',
    about: 'measure the held-out loss each so many steps; 0 only at the end',
    unit: 'steps',
    mayChange: 'freely',
  }),

  ...runOptions,
  checkpointEvery: z
    .int()
    .min(1)
    .default(100)
    .register(optionFacts, {
      ...optionFacts.get(runOptions.checkpointEvery)!,
    }),
  ...engineOptions,
  ...programOptions,
}

export type SftShape = typeof shape
export type SftOptionsIn = OptionsIn<SftShape>
export type SftOptions = OptionsOut<SftShape>

export const sftOptions: OptionSet<SftShape> = {
  recipe: 'sft',
  shape,
  rules: [],
}
