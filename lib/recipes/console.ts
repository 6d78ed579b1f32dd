import { type Measurement, type MeasureName, measureNames } from '../eval/measure.js'
import { interval } from '../report/format.js'
import { Progress } from '../report/progress.js'
import { lossLine, stepLine } from '../report/step-line.js'
import { plainStyle, type Style } from '../report/style.js'
import type { Emit, LossFigures } from './events.js'

export const measureTitles: Record<MeasureName, string> = {
  success: 'success',
  reward: 'reward',
  oracleRead: 'oracle read',
  misleadingRead: 'misleading read',
  firstReadOracle: 'first read right',
  reads: 'reads a trial',
}

/** A figure of an evaluation with its interval, as a table or a line shows it. */
export function measureText(measurement: Measurement, name: MeasureName): string {
  return interval(measurement.estimates[name], name === 'reward' || name === 'reads' ? 'number' : 'percent')
}

function evaluationLine(step: number, measurement: Measurement): string {
  const counted = measureNames.filter((name) => measurement.estimates[name] && name !== 'reward')
  const figures = counted.map((name) => `${measureTitles[name]} ${measureText(measurement, name)}`)
  return `evaluation after step ${step}, ${measurement.trials} trials of ${measurement.tasks} tasks: ${figures.join(', ')}`
}

/** Of many quick steps, the first and some fifty more: all of them are in metrics.jsonl. */
function staysOnScreen({ step, steps }: LossFigures): boolean {
  return step === 1 || step === steps || step % Math.ceil(steps / 50) === 0
}

/** Prints events as they come: lines that stay, and one live line for what happens within a step. */
export function printEvents(progress: Progress = new Progress(), style: Style = plainStyle): Emit {
  return (event) => {
    switch (event.type) {
      case 'notice':
        return progress.line(event.text)
      case 'warning':
        return progress.line(style.yellow(`warning: ${event.text}`))
      case 'progress':
        return progress.live(style.dim(`  ${event.what} ${event.done}/${event.total}`))
      case 'step':
        return progress.line(stepLine(event.figures))
      case 'loss':
        return staysOnScreen(event.figures)
          ? progress.line(lossLine(event.figures))
          : progress.live(lossLine(event.figures))
      case 'evaluation':
        return progress.line(style.bold(evaluationLine(event.step, event.measurement)))
      case 'heldOutLoss':
        return progress.line(style.bold(`held-out loss after step ${event.step}: ${event.loss.toFixed(4)}`))
      case 'checkpoint':
        return progress.line(style.dim(`  checkpoint of step ${event.step}: ${event.dir}`))
    }
  }
}
