import { existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, relative } from 'node:path'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { latestCheckpoint } from '../checkpoint/find.js'
import { dataFingerprint } from '../checkpoint/fingerprint.js'
import type { LabSetting } from '../compare/run-spec.js'
import type { RunProgress } from '../compare/schedule.js'
import { type SkillLab, skillLab } from '../environments/skill-lab/index.js'
import { printEvents } from '../recipes/console.js'
import type { Emit } from '../recipes/events.js'
import { type SftConfig, sft } from '../recipes/sft.js'
import type { Progress } from '../report/progress.js'
import type { Surroundings } from './command.js'
import { playShown } from './play-shown.js'

/** A start: where the model and its training go; what is there is gone on with. */
export interface StartPlace {
  folder: string
  /** Of its random weights and demonstrations; absent: the environment's. */
  seed?: number
}

export interface StartOptions extends StartPlace {
  setting: LabSetting
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
  const seed = given.seed ?? setting.seed
  const made = madeStart({ folder, seed }, setting, lab)
  if (made) return made
  const model = join(folder, 'model')
  if (!existsSync(join(model, 'model.safetensors'))) await lab.createModel(model, seed)
  const { demonstrations: count, demonstrationsPerTask: _, choicesOfSeven: __, ...options } = lab.defaults.sft
  const demonstrations = lab.demonstrations(count, seed)
  const output = trainingOf(folder)
  const config = { ...options, ...engine, model, demonstrations, output, seed, resume: true, signal, onEvent }
  const taught = await sft(config as SftConfig)
  if (taught.stopped) return undefined
  const trained = join(taught.checkpoint!, 'model')
  const record = { fingerprint: fingerprintOf(seed, setting, lab), model: relative(folder, trained) }
  await writeWhole(diskFiles, folder, recordName, `${JSON.stringify(record)}\n`)
  return trained
}

const trainingOf = (folder: string) => join(folder, 'sft')
const recordName = 'start.json'

/** All that a start follows from. */
function fingerprintOf(seed: number, setting: LabSetting, lab: SkillLab): string {
  return dataFingerprint([seed, setting.seed, setting.slateSize, setting.horizon, lab.defaults.sft])
}

/** The model of a start that is whole, by its record, so that its demonstrations need not be made again to know it. */
function madeStart({ folder, seed }: StartPlace, setting: LabSetting, lab: SkillLab): string | undefined {
  const file = join(folder, recordName)
  if (!existsSync(file)) return undefined
  const { fingerprint, model } = JSON.parse(readFileSync(file, 'utf8'))
  const fits = fingerprint === fingerprintOf(seed ?? setting.seed, setting, lab)
  return fits && existsSync(join(folder, model)) ? join(folder, model) : undefined
}

export interface StartsOptions {
  setting: LabSetting
  places: readonly StartPlace[]
  /** Runs at the same time, later, and the engine of each: the starts have the cores of all. */
  jobs: number
  engine: Readonly<Record<string, unknown>>
}

type StartSurroundings = Pick<Surroundings, 'progress' | 'style' | 'signal'> & { lab?: SkillLab }

/**
 * Makes several starts, `jobs` at a time: small models gain more from being taught side by side than from more threads. What comes out depends on
 * neither.
 * @returns their folders; undefined where the signal came before all were made
 */
export async function makeStarts(
  { setting, places, jobs, engine }: StartsOptions,
  { progress, style, signal, lab: given }: StartSurroundings,
): Promise<string[] | undefined> {
  const lab = given ?? (await skillLab(setting))
  const cores = jobs * (Number(engine.threads ?? 0) || Math.max(1, Math.floor(cpus().length / jobs)))
  const steps = Math.ceil(lab.defaults.sft.demonstrations / lab.defaults.sft.batchSize)
  const models = places.map((place) => madeStart(place, setting, lab))
  const left = places.filter((_, i) => models[i] === undefined)
  for (let first = 0; first < left.length; first += jobs) {
    const batch = left.slice(first, first + jobs)
    const threads = Math.max(1, Math.floor(cores / batch.length))
    const shared = { setting, engine: { ...engine, threads }, signal, lab }
    const make = async (place: StartPlace, onEvent: Emit) => {
      const model = await makeStart({ ...place, ...shared, onEvent })
      models[places.indexOf(place)] = model
      return model !== undefined
    }
    const sideBySide = () => {
      const name = ({ seed }: StartPlace) => `start of seed ${seed}`
      const play = async (place: StartPlace, onProgress: (progress: RunProgress) => void) => {
        const done = (await latestCheckpoint(trainingOf(place.folder)))?.step ?? 0
        return make(place, startEvents(progress, steps, done, onProgress))
      }
      return playShown(batch, { jobs, name, stepsOf: () => steps, play }, { progress, style, signal })
    }
    const whole = await (batch.length === 1 ? make(batch[0]!, printEvents(progress, style)) : sideBySide())
    if (!whole) return undefined
  }
  return models as string[]
}

/** What is told of a start that is taught beside others, of whose `total` steps some are done. */
function startEvents(
  progress: Progress,
  total: number,
  done: number,
  onProgress: (progress: RunProgress) => void,
): Emit {
  let step = done
  return (event) => {
    if (event.type === 'warning') progress.line(`warning: ${event.text}`)
    else if (event.type === 'loss') {
      step = event.figures.step
      onProgress({ done: step, total, text: `step ${step}/${total}` })
    } else if (event.type === 'progress') {
      onProgress({ done: step, total, text: `${event.what} ${event.done}/${event.total}` })
    }
  }
}

const engineNames = ['device', 'threads', 'instructionSet']

interface StartSource {
  from?: string | undefined
  ownStarts: boolean
  seeds: readonly number[]
  output: string
  jobs: number
}

/** The model that the runs of each seed start from; undefined where the signal came before all were made. */
export async function startsOf(
  { from, ownStarts, seeds, output, jobs }: StartSource,
  setting: LabSetting | undefined,
  options: Readonly<Record<string, unknown>>,
  surroundings: StartSurroundings,
): Promise<string[] | undefined> {
  if (from !== undefined) return seeds.map(() => from)
  const { progress, style } = surroundings
  const runs = ownStarts ? 'a start for the runs of each seed' : 'the start of every run'
  progress.line(style.bold(`${runs}: a small model, taught by demonstrations`))
  const engine = Object.fromEntries(Object.entries(options).filter(([name]) => engineNames.includes(name)))
  const places = ownStarts
    ? seeds.map((seed) => ({ folder: join(output, 'starts', `seed-${seed}`), seed }))
    : [{ folder: join(output, 'start') }]
  const models = await makeStarts({ setting: setting!, places, jobs, engine }, surroundings)
  return models && seeds.map((_, i) => models[ownStarts ? i : 0]!)
}
