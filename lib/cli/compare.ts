import { cpus } from 'node:os'
import { join } from 'node:path'
import { compareOptions, ownOptionNames } from '../compare/options.js'
import type { LabSetting, RunSpec } from '../compare/run-spec.js'
import { writeSummary } from '../compare/write-summary.js'
import type { OptionSet } from '../config/option.js'
import { skillLab } from '../environments/skill-lab/index.js'
import { type Command, exitCodes, type Surroundings } from './command.js'
import { checkGivenOptions, configFlag, readGivenOptions } from './command-options.js'
import { isFinished, playRun, stepsOf } from './compare-play.js'
import { playInProcess } from './compare-process.js'
import { startsOf } from './compare-start.js'
import { resumeCommand } from './interrupt.js'
import { playShown } from './play-shown.js'

export const compareCommand: Command = {
  name: 'compare',
  summary: 'train with several methods and seeds from one start, and compare what comes out',
  usage:
    'skillgate compare --methods <a,b> --seeds <0,1> [--jobs <number>] [options]\n       ' +
    'skillgate compare --methods <a,b> --from <path> --agent <path> --skills <path>\n           --tasks <path> --held-out <path> [options]',
  about:
    'Every method and seed is an ordinary run of train, then held-out tasks are played: same start, data, steps and seeds. Writes tables as ' +
    'text, JSON and Markdown, and figures as SVG. The same command again goes on where it stopped and leaves alone what is finished. ' +
    'Without an agent it compares on skill-lab, from a start that it teaches first.',
  extra: [configFlag],
  options: compareOptions as unknown as OptionSet,
  async run(argv, surroundings) {
    const given = readGivenOptions(compareOptions.shape, argv)
    const checked = checkGivenOptions(compareOptions, given)
    const { output, methods, seeds, baseline, jobs } = checked
    const options = Object.fromEntries(
      Object.entries(given.options).filter(([name]) => !ownOptionNames.includes(name) || isInput(name)),
    )
    const setting = checked.agent === undefined ? labSetting(checked) : undefined
    const models = await startsOf(checked, setting, options, surroundings)
    if (models === undefined) return sayTheSameAgain(surroundings)
    const threads = jobs > 1 ? { threads: Math.max(1, Math.floor(cpus().length / jobs)) } : {}
    const trained = { ...threads, ...(setting && (await labTraining(setting))), ...options }
    const specs = methods.flatMap((method) =>
      seeds.map(
        (seed, i): RunSpec => ({
          variant: method,
          ...{ method, seed, model: models[i]!, options: trained, ...(setting && { lab: setting }) },
          output: join(output, 'runs', method, `seed-${seed}`),
        }),
      ),
    )
    const whole = await playAll(inRounds(specs, seeds), jobs, surroundings)
    const variants = methods.map((method) => ({
      variant: method,
      folders: specs.filter((spec) => spec.method === method).map((spec) => spec.output),
    }))
    surroundings.progress.line(`\n${await writeSummary(output, variants, baseline)}`)
    surroundings.progress.line(`\nwritten: ${join(output, 'comparison.md')}, .json, .txt and figures/`)
    return whole ? exitCodes.fine : sayTheSameAgain(surroundings)
  },
}

/** A comparison always goes on with what is there. */
function sayTheSameAgain({ progress, style, argv }: Surroundings): number {
  progress.line('stopped; what is done stays. To go on:')
  progress.line(style.bold(`  ${resumeCommand(argv).replace(/ --resume$/, '')}`))
  return exitCodes.interrupted
}

const isInput = (name: string) => name === 'agent' || name === 'tasks'

function labSetting(options: Omit<LabSetting, 'seed'> & { environmentSeed: number }): LabSetting {
  const { environmentSeed: seed, slateSize, horizon, commandFailures, wrongLabels, missingLabels } = options
  return { seed, slateSize, horizon, commandFailures, wrongLabels, missingLabels }
}

/** What the environment says of training where nothing else was given; all of its held-out tasks are played at the end. */
export async function labTraining(setting: LabSetting): Promise<Record<string, unknown>> {
  const { defaults, heldOutTasks } = await skillLab(setting)
  const { temperature, topP } = defaults.eval
  const evaluation = { evalTasks: heldOutTasks.length, evalTemperature: temperature, evalTopP: topP }
  return { ...defaults.rl, ...evaluation }
}

/** The first seed of every method, then the second, so that methods can be compared from early on. */
export function inRounds(specs: readonly RunSpec[], seeds: readonly number[]): RunSpec[] {
  return seeds.flatMap((seed) => specs.filter((spec) => spec.seed === seed))
}

/** Plays what is not finished yet, and shows how far it is. */
export async function playAll(
  specs: readonly RunSpec[],
  jobs: number,
  surroundings: Surroundings,
): Promise<boolean> {
  const { progress, style, signal } = surroundings
  const finished = await Promise.all(specs.map(isFinished))
  const left = specs.filter((_, i) => !finished[i])
  const found = specs.length - left.length
  progress.line(
    style.bold(
      `${specs.length} runs${found > 0 ? `, ${found} of them finished already` : ''}; ${jobs} at a time`,
    ),
  )
  const play = jobs > 1 ? playInProcess : playRun
  return playShown(
    left,
    {
      ...{ jobs, found, stepsOf },
      name: ({ variant, seed }) => `${variant}, seed ${seed}`,
      play: (spec, onProgress) => play(spec, { signal, onProgress }),
    },
    surroundings,
  )
}
