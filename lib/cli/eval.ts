import { evalOptions } from '../config/eval-options.js'
import type { OptionSet } from '../config/option.js'
import type { Measurement } from '../eval/measure.js'
import { measureMeanings, measureNames } from '../eval/measure.js'
import { measureText, measureTitles, printEvents } from '../recipes/console.js'
import { type EvaluateConfig, evaluate } from '../recipes/evaluate.js'
import { table } from '../report/table.js'
import { type Command, exitCodes } from './command.js'
import { checkGivenOptions, configFlag, readGivenOptions } from './command-options.js'
import { fillFromEnvironment, withEnvironment } from './environment.js'

export const intervalNote =
  'Intervals are 95%: bootstrap over tasks; where all tasks agree, Wilson with one observation a task.'

export function measurementTable(measurement: Measurement): string {
  const rows = measureNames.map((name) => [
    measureTitles[name],
    measureText(measurement, name),
    measureMeanings[name],
  ])
  const failed = Object.entries(measurement.failed).map(([code, count]) => `${count} ${code}`)
  return [
    table([{ title: 'figure' }, { title: 'value [95%]' }, { title: 'meaning', align: 'left' }], rows),
    `${measurement.trials} trials of ${measurement.tasks} tasks${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}. ${intervalNote}`,
  ].join('\n')
}

const set = withEnvironment(evalOptions)

export const evalCommand: Command = {
  name: 'eval',
  summary: 'measure a model on held-out tasks',
  usage: 'skillgate eval --model <path> --tasks <path> --agent <path> [options]',
  about:
    'Plays held-out tasks and measures success and reads, each with a 95% interval. The same seed plays the same slates with the same ' +
    'random choices, so that two models can be compared.',
  extra: [configFlag],
  options: set as unknown as OptionSet,
  async run(argv, { progress, style, signal }) {
    const given = await fillFromEnvironment(readGivenOptions(set.shape, argv), 'eval')
    const { environment: _, ...options } = checkGivenOptions(set, given)
    const measurement = await evaluate({
      ...(options as EvaluateConfig),
      signal,
      onEvent: printEvents(progress, style),
    })
    progress.line(measurementTable(measurement))
    return exitCodes.fine
  },
}
