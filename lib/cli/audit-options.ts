import { z } from 'zod'
import { type OptionSet, optionFacts, pathOption } from '../config/option.js'

const file = (section: 'Model and data' | 'Run', about: string) =>
  pathOption().optional().register(optionFacts, { section, about, expects: 'a path', path: true })

const shape = {
  model: file('Model and data', 'model folder whose tokenizer counts tokens; absent: that of the run'),
  slates: file(
    'Model and data',
    'JSONL file of the candidates of each task; absent: slates.jsonl beside a dump',
  ),
  format: z.enum(['auto', 'trajectories', 'records', 'dump']).default('auto').register(optionFacts, {
    section: 'Model and data',
    about: "what the lines are: a run's trajectories, records of any trainer, a dump of the released trainer",
  }),
  successAbove: z.number().default(0).register(optionFacts, {
    section: 'Measures',
    about: 'a trajectory with a higher reward counts as a success',
  }),
  includeDropped: z.boolean().default(false).register(optionFacts, {
    section: 'Measures',
    about: 'also measure groups that the update left out',
  }),
  html: file('Run', 'write a page with three charts here'),
  json: file('Run', 'write the figures here as JSON'),
}

export const auditCommandOptions: OptionSet<typeof shape> = { recipe: 'audit', shape, rules: [] }
