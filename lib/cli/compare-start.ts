import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { dataFingerprint } from '../checkpoint/fingerprint.js'
import type { LabSetting } from '../compare/run-spec.js'
import { type SkillLab, skillLab } from '../environments/skill-lab/index.js'
import type { Emit } from '../recipes/events.js'
import { type SftConfig, sft } from '../recipes/sft.js'

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
