import { existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, relative } from 'node:path'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { dataFingerprint } from '../checkpoint/fingerprint.js'
import type { LabSetting } from '../compare/run-spec.js'
import { type SkillLab, skillLab } from '../environments/skill-lab/index.js'
import { printEvents } from '../recipes/console.js'
import type { Emit } from '../recipes/events.js'
import { type SftConfig, sft } from '../recipes/sft.js'
import type { Surroundings } from './command.js'

export interface StartOptions {
  /** Where the model and its training go; what is there is gone on with. */
  folder: string
  setting: LabSetting
  /** Of its random weights and demonstrations; absent: the environment's. */
  seed?: number
  /** threads, device, instructionSet. */
  engine: Readonly<Record<string, unknown>>
  signal?: AbortSignal
  onEvent?: Emit
  lab?: SkillLab
}

/**
 * The model every run starts from: small, with random weights, then taught by demonstrations of the environment.
 * @returns its folder; undefined where the signal stopped it
 */
export async function makeStart({ folder, setting, engine, signal, onEvent, ...given }: StartOptions) {
  const lab = given.lab ?? (await skillLab(setting))
  const { slateSize, horizon } = setting
  const seed = given.seed ?? setting.seed
  const fingerprint = dataFingerprint([seed, setting.seed, slateSize, horizon, lab.defaults.sft])
  const made = readStart(folder)
  if (made?.fingerprint === fingerprint && existsSync(join(folder, made.model)))
    return join(folder, made.model)
  const model = join(folder, 'model')
  if (!existsSync(join(model, 'model.safetensors'))) await lab.createModel(model, seed)
  const { demonstrations: count, demonstrationsPerTask: _, choicesOfSeven: __, ...options } = lab.defaults.sft
  const demonstrations = lab.demonstrations(count, seed)
  const output = join(folder, 'sft')
  const config = { ...options, ...engine, model, demonstrations, output, seed, resume: true, signal, onEvent }
  const taught = await sft(config as SftConfig)
  if (taught.stopped) return undefined
  const trained = join(taught.checkpoint!, 'model')
  const record = { fingerprint, model: relative(folder, trained) }
  await writeWhole(diskFiles, folder, recordName, `${JSON.stringify(record)}\n`)
  return trained
}

const recordName = 'start.json'

/** What says that the start is whole, so that its demonstrations need not be made again to know it. */
function readStart(folder: string): { fingerprint: string; model: string } | undefined {
  const file = join(folder, recordName)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

const engineNames = ['device', 'threads', 'instructionSet']

interface StartSource {
  from?: string | undefined
  ownStarts: boolean
  seeds: readonly number[]
  output: string
}

type StartSurroundings = Pick<Surroundings, 'progress' | 'style' | 'signal'> & { lab?: SkillLab }

/** The model that the runs of each seed start from; undefined where the signal came before all were made. */
export async function startsOf(
  { from, ownStarts, seeds, output }: StartSource,
  setting: LabSetting | undefined,
  options: Readonly<Record<string, unknown>>,
  surroundings: StartSurroundings,
): Promise<string[] | undefined> {
  if (from !== undefined) return seeds.map(() => from)
  if (!ownStarts) {
    const model = await start(join(output, 'start'), { setting: setting! }, options, surroundings)
    return model === undefined ? undefined : seeds.map(() => model)
  }
  const models: string[] = []
  for (const seed of seeds) {
    const folder = join(output, 'starts', `seed-${seed}`)
    const model = await start(folder, { setting: setting!, seed }, options, surroundings)
    if (model === undefined) return undefined
    models.push(model)
  }
  return models
}

async function start(
  folder: string,
  made: { setting: LabSetting; seed?: number },
  options: Readonly<Record<string, unknown>>,
  { progress, style, signal, lab }: StartSurroundings,
): Promise<string | undefined> {
  const runs = made.seed === undefined ? 'every run' : `the runs of seed ${made.seed}`
  progress.line(style.bold(`the start of ${runs}: a small model, taught by demonstrations`))
  const engine = Object.fromEntries(Object.entries(options).filter(([name]) => engineNames.includes(name)))
  // Alone on the machine, whatever the runs after it take.
  const threads = { threads: Number(engine.threads ?? 0) === 1 ? Math.min(2, cpus().length) : engine.threads }
  const onEvent = printEvents(progress, style)
  return makeStart({ folder, ...made, engine: { ...engine, ...threads }, signal, onEvent, lab })
}
