import { z } from 'zod'
import { episodeOptions, settingOptions, slateOptions } from './episode-options.js'
import { type OptionSet, type OptionsIn, type OptionsOut, optionFacts, pathOption } from './option.js'
import { engineOptions, listOption, programOptions, runOptions } from './shared-options.js'

const shape = {
  ...settingOptions,
  tasks: listOption().register(optionFacts, {
    section: 'Model and data',
    about: 'held-out tasks: one JSON object a line, with id, prompt and (for a slate) oracle',
    expects: 'the path of a JSONL file, or an array of tasks',
    path: true,
  }),
  ...slateOptions,
  trials: z.int().min(1).max(1024).default(1).register(optionFacts, {
    section: 'Evaluation',
    about: 'rollouts of each task',
    unit: 'rollouts',
  }),
  maxTasks: z.int().min(1).optional().register(optionFacts, {
    section: 'Evaluation',
    about: 'only the first so many tasks; absent: all',
    unit: 'tasks',
  }),
  temperature: z.number().min(0).max(100).default(1).register(optionFacts, {
    section: 'Evaluation',
    about: 'sampling temperature; 0 takes the most likely token',
  }),
  topP: z.number().positive().max(1).default(0.7).register(optionFacts, {
    section: 'Evaluation',
    about: 'keep the smallest set of tokens whose probability reaches this',
  }),
  successAbove: z.number().default(0).register(optionFacts, {
    section: 'Evaluation',
    about: 'a trial with a higher reward counts as a success',
  }),
  ...episodeOptions,
  output: pathOption().optional().register(optionFacts, {
    section: 'Run',
    about: 'folder for evaluation.json and the trajectories; absent: none is written',
    expects: 'the path of a folder',
    path: true,
  }),
  seed: runOptions.seed,
  ...engineOptions,
  ...programOptions,
}

export type EvalShape = typeof shape
export type EvalOptionsIn = OptionsIn<EvalShape>
export type EvalOptions = OptionsOut<EvalShape>

export const evalOptions: OptionSet<EvalShape> = {
  recipe: 'eval',
  shape,
  rules: [],
}
