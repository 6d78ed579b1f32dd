import type { RunResult } from '../recipes/run-folder.js'
import { exitCodes, type Surroundings } from './command.js'
import { resumeCommand } from './interrupt.js'

/** Says what a run came to, and how to go on where it was stopped. */
export function reportResult(result: RunResult, surroundings: Surroundings): number {
  const { progress, style } = surroundings
  const { checkpoint, best, stopped, step, steps, counters } = result
  if (stopped) {
    const saved = checkpoint
      ? `the last completed step is saved in ${checkpoint}`
      : 'no step was completed yet'
    return sayHowToGoOn(`stopped after step ${step} of ${steps}; ${saved}`, surroundings)
  }
  const counted = Object.entries(counters).filter(([, value]) => value > 0)
  const notes = counted.map(([name, value]) => `${name} ${value}`)
  progress.line(style.green(`done: ${steps} steps${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`))
  if (checkpoint) progress.line(`the trained model, as a Hugging Face folder: ${checkpoint}/model`)
  if (best && best.checkpoint !== checkpoint) {
    progress.line(`the best by ${best.metric}, after step ${best.step}: ${best.checkpoint}/model`)
  }
  return exitCodes.fine
}

/** What was stopped, and the command that goes on. */
export function sayHowToGoOn(what: string, { progress, style, argv }: Surroundings): number {
  progress.line(`${what}. To go on:`)
  progress.line(style.bold(`  ${resumeCommand(argv)}`))
  return exitCodes.interrupted
}
