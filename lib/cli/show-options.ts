import { z } from 'zod'
import { type OptionSet, optionFacts, pathOption } from '../config/option.js'
import { rlOptions } from '../config/rl-options.js'

const place = (about: string) => z.int().min(0).optional().register(optionFacts, { section: 'Run', about })

const shape = {
  step: place('of this step; absent: the last one there is'),
  group: place(
    'of this group (its number of draw within the step); absent: the first one that was trained on',
  ),
  index: place('this rollout of the group; absent: the first'),
  full: z.boolean().default(false).register(optionFacts, {
    section: 'Run',
    about: 'print prompts and tool results in full length',
  }),
  model: pathOption().optional().register(optionFacts, {
    section: 'Model and data',
    about: 'model folder whose tokenizer reads the tokens; absent: that of the run',
    expects: 'the path of a model folder',
    path: true,
  }),
  method: z.enum(rlOptions.shape.method.unwrap().options).optional().register(optionFacts, {
    section: 'Method',
    about: 'credit is recomputed with this method; absent: that of the run',
  }),
  selectorCoefficient: z.number().min(0).max(100).optional().register(optionFacts, {
    section: 'Method',
    about: 'and with this weight of the selection channel; absent: that of the run',
  }),
}

export const showOptions: OptionSet<typeof shape> = { recipe: 'show', shape, rules: [] }
