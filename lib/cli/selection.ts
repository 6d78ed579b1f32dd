import type { OptionSet, Shape } from '../config/option.js'
import { selectionBcOptions, selectionDpoOptions } from '../config/selection-options.js'
import { printEvents } from '../recipes/console.js'
import type { RunResult } from '../recipes/run-folder.js'
import { type SelectionBcConfig, selectionBc } from '../recipes/selection-bc.js'
import { type SelectionDpoConfig, selectionDpo } from '../recipes/selection-dpo.js'
import type { Command } from './command.js'
import { checkGivenOptions, configFlag, readGivenOptions } from './command-options.js'
import { fillFromEnvironment, withEnvironment } from './environment.js'
import { reportResult } from './finish.js'

interface Recipe<C> {
  set: OptionSet<Shape>
  summary: string
  about: string
  run(config: C): Promise<RunResult>
}

function selectionCommand<C>({ set: own, summary, about, run }: Recipe<C>): Command {
  const set = withEnvironment(own)
  const { recipe: name } = set
  return {
    name,
    summary,
    usage: `skillgate ${name} --model <path> --agent <path> --skills <path> --tasks <path> --output <path> [options]`,
    about: `${about} Tasks without an oracle are left out. Ctrl-C saves and says how to go on.`,
    extra: [configFlag],
    options: set,
    async run(argv, surroundings) {
      const given = await fillFromEnvironment(readGivenOptions(set.shape, argv), 'train', set.shape)
      const { environment: _, ...options } = checkGivenOptions(set, given)
      const { signal, progress, style } = surroundings
      const result = await run({ ...options, signal, onEvent: printEvents(progress, style) } as C)
      return reportResult(result, surroundings)
    },
  }
}

export const selectionBcCommand = selectionCommand<SelectionBcConfig>({
  set: selectionBcOptions as unknown as OptionSet,
  summary: 'train a model to read the right skill first, supervised',
  about:
    'Trains a model on one turn of each task: the prompt that the agent begins with, and a read of the right skill.',
  run: selectionBc,
})

export const selectionDpoCommand = selectionCommand<SelectionDpoConfig>({
  set: selectionDpoOptions as unknown as OptionSet,
  summary: 'train a model by DPO to prefer the right skill to misleading ones',
  about:
    'Trains a model by DPO on one turn of each task: after the prompt that the agent begins with, a read of the right skill is preferred to ' +
    'a read of each misleading one. The reference is the model as it was given.',
  run: selectionDpo,
})
