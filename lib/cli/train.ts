import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OptionSet } from '../config/option.js'
import { rlOptions } from '../config/rl-options.js'
import { printEvents } from '../recipes/console.js'
import { type TrainConfig, train } from '../recipes/rl.js'
import type { Command } from './command.js'
import { checkGivenOptions, configFlag, readGivenOptions } from './command-options.js'
import { fillFromEnvironment, withEnvironment } from './environment.js'
import { reportResult } from './finish.js'
import { runSkillLab } from './skill-lab-run.js'

const set = withEnvironment(rlOptions)

export const trainCommand: Command = {
  name: 'train',
  summary: 'train a model by reinforcement on the rollouts of an agent',
  usage:
    'skillgate train --model <path> --agent <path> --skills <path> --tasks <path> --output <path> [options]\n       skillgate train',
  about:
    'Plays groups of rollouts, finds out which skills were read, assigns credit and updates the model, step by step. Without a model and ' +
    'an agent it runs the built-in example skill-lab from a model with random weights to the final table. Ctrl-C saves and says how to go on.',
  extra: [configFlag],
  options: set as unknown as OptionSet,
  async run(argv, surroundings) {
    const read = readGivenOptions(set.shape, argv)
    const { model, agent } = read.options
    const wholeJob = model === undefined && agent === undefined
    if (wholeJob) read.options.environment ??= 'skill-lab'
    const given = await fillFromEnvironment(read, 'train')
    if (!wholeJob || given.options.environment !== 'skill-lab') {
      const { environment: _, ...options } = checkGivenOptions(set, given)
      const { signal, progress, style } = surroundings
      const result = await train({
        ...(options as TrainConfig),
        signal,
        onEvent: printEvents(progress, style),
      })
      return reportResult(result, surroundings)
    }
    given.options.output ??= labOutput(given.options.resume === true)
    given.options.model = join(String(given.options.output), 'model')
    checkGivenOptions(set, given)
    const {
      model: _,
      environment: __,
      ...options
    } = given.options as unknown as TrainConfig & { environment: string }
    return runSkillLab(options, surroundings)
  },
}

/** The folder of the newest built-in run for a resumed one, else one that is not taken yet. */
function labOutput(resume: boolean): string {
  const name = (number: number) => join('runs', number === 1 ? 'skill-lab' : `skill-lab-${number}`)
  let number = 1
  while (existsSync(name(number))) number += 1
  return name(resume && number > 1 ? number - 1 : number)
}
