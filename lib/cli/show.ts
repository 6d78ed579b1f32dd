import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { configError } from '../config/check.js'
import type { OptionSet } from '../config/option.js'
import { assignCredit } from '../credit/credit.js'
import { creditMethod } from '../credit/methods/index.js'
import { SkillgateError } from '../errors.js'
import { Tokenizer } from '../policy/tokenizer.js'
import { readTrajectories, type StoredGroup } from '../rollout/trajectory-file.js'
import { type Command, exitCodes } from './command.js'
import { checkGivenOptions, readGivenOptions } from './command-options.js'
import { memoryBefore } from './show-memory.js'
import { showOptions } from './show-options.js'
import { trajectoryText } from './show-trajectory.js'

export const showCommand: Command = {
  name: 'show',
  summary: 'print a stored trajectory with the credit of every token',
  usage: 'skillgate show <run folder or trajectories.jsonl> [--step n] [--group n] [--index n] [options]',
  about:
    'Prints the turns of a stored trajectory, the skills it read, and the channel, advantage and weight of its tokens, recomputed.',
  extra: [],
  options: showOptions as unknown as OptionSet,
  async run(argv, { progress, style }) {
    const given = readGivenOptions(showOptions.shape, argv, true)
    const options = checkGivenOptions(showOptions, given)
    const [source, ...more] = given.positionals
    if (source === undefined || more.length > 0) {
      const text = `expected one run folder or trajectory file, got ${source === undefined ? 'none' : given.positionals.length}`
      throw configError('show', [{ option: 'source', text }])
    }
    const file = trajectoryFile(source, options.step)
    const groups = await readTrajectories(file)
    const ofStep = groups.filter(({ step }) => options.step === undefined || step === options.step)
    const group = choose(ofStep, options.group, file)
    const trajectory = group.trajectories.find(
      ({ index }) => index === (options.index ?? group.trajectories[0]!.index),
    )
    if (!trajectory)
      throw absent(
        file,
        'rollout',
        options.index,
        group.trajectories.map(({ index }) => index),
      )

    const config = runConfig(file)
    const model = options.model ?? textOption(config, 'model')
    const tokenizer = model === undefined ? undefined : await Tokenizer.load(model)
    const method = creditMethod(options.method ?? textOption(config, 'method') ?? 'skillgate')
    const coefficient = options.selectorCoefficient ?? Number(config.selectorCoefficient ?? 0.2)
    const trainedOn = groups.filter(({ step, dropped }) => step === group.step && dropped === undefined)
    const memory = await memoryBefore(method, file, group.step)
    const credit = group.dropped
      ? undefined
      : assignCredit(trainedOn, { method, memory, selectorCoefficient: coefficient })
    const credited = credit?.sequences.filter((sequence) => sequence.trajectory === trajectory) ?? []

    progress.line(style.dim(`${file}; credit by ${method.name}, selector coefficient ${coefficient}`))
    const textOf = (ids: Int32Array) =>
      tokenizer?.textOf(ids) ?? `${ids.length} tokens: ${ids.slice(0, 16).join(' ')} ... (--model reads them)`
    progress.line(trajectoryText(group, trajectory, credited, { textOf, style, full: options.full }))
    return exitCodes.fine
  },
}

/** The file itself, or the one of a step (the last, if none is named) of a run's folder. */
function trajectoryFile(source: string, step: number | undefined): string {
  if (!existsSync(source)) {
    throw new SkillgateError(
      'ERR_TRAJECTORIES',
      `expected a run folder or a trajectory file, there is no ${source}`,
    )
  }
  if (!statSync(source).isDirectory()) return source
  const single = join(source, 'trajectories.jsonl')
  if (existsSync(single)) return single
  const folder = join(source, 'trajectories')
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^step-\d+\.jsonl$/.test(name))
        .sort()
    : []
  if (files.length === 0)
    throw new SkillgateError('ERR_TRAJECTORIES', `${source}: expected trajectories/step-*.jsonl, found none`)
  if (step === undefined) return join(folder, files.at(-1)!)
  const name = files.find((candidate) => Number(/\d+/.exec(candidate)![0]) === step)
  if (name) return join(folder, name)
  throw absent(
    folder,
    'step',
    step,
    files.map((candidate) => Number(/\d+/.exec(candidate)![0])),
  )
}

function choose(groups: readonly StoredGroup[], wanted: number | undefined, file: string): StoredGroup {
  const group =
    wanted === undefined
      ? (groups.find(({ dropped }) => !dropped) ?? groups[0])
      : groups.find(({ index }) => index === wanted)
  if (group) return group
  throw absent(
    file,
    'group',
    wanted,
    groups.map(({ index }) => index),
  )
}

function absent(
  where: string,
  what: string,
  wanted: number | undefined,
  there: readonly number[],
): SkillgateError {
  const list =
    there.length > 0 ? `${there.slice(0, 20).join(', ')}${there.length > 20 ? ', ...' : ''}` : 'none'
  return new SkillgateError(
    'ERR_TRAJECTORIES',
    `${where}: expected ${what} ${wanted ?? ''} among ${list}, found none`,
  )
}

/** The config of the run a trajectory file lies in; empty where it lies by itself. */
function runConfig(file: string): Record<string, unknown> {
  for (const folder of [dirname(file), dirname(dirname(file))]) {
    const path = join(folder, 'config.json')
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
    const evaluation = join(folder, 'evaluation.json')
    if (existsSync(evaluation)) return JSON.parse(readFileSync(evaluation, 'utf8')).options
  }
  return {}
}

const textOption = (config: Record<string, unknown>, name: string): string | undefined =>
  typeof config[name] === 'string' ? config[name] : undefined
