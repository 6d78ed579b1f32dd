import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dataFingerprint, folderFingerprint } from '../checkpoint/fingerprint.js'
import { optionFacts, type Shape } from '../config/option.js'

/** Options of the built-in environment, as `skillLab` takes them. */
export interface LabSetting {
  seed: number
  slateSize: number
  horizon: number
  commandFailures: number
  wrongLabels: number
  missingLabels: number
}

/** The standard environment. */
export const standardLab: LabSetting = {
  ...{ seed: 0, slateSize: 16, horizon: 1 },
  ...{ commandFailures: 0, wrongLabels: 0, missingLabels: 0 },
}

/** One run of a comparison. Plain data, so that a process of its own can play it. */
export interface RunSpec {
  /** Under which name the run counts: its method, or what else tells it from the others. */
  variant: string
  method: string
  seed: number
  /** The run's folder. */
  output: string
  /** The model folder it starts from. */
  model: string
  /** The built-in environment; absent: agent, skills and tasks are paths among `options`. */
  lab?: LabSetting
  /** Options of `train` as they were given, without those above. */
  options: Readonly<Record<string, unknown>>
}

/** Options whose value is no part of what a run's result follows from, though a path's content is. */
const inputPaths = ['tasks', 'heldOut', 'agent'] as const
/** Of the evaluation at the end. */
const evaluationOptions = ['evalTasks', 'evalTrials', 'evalTemperature', 'evalTopP', 'steps']

/**
 * One text for all that the result of a run follows from: method, seed, the start's weights, data and options. Where the files go, how
 * often they are written and how many threads compute is no part of it.
 * @throws ERR_MODEL_CONFIG where the model folder cannot be read
 */
export async function specFingerprint(spec: RunSpec, shape: Shape): Promise<string> {
  const { method, seed, lab, options, model } = spec
  const counted = Object.entries(options).filter(
    ([name]) =>
      evaluationOptions.includes(name) ||
      !(Object.hasOwn(shape, name) && optionFacts.get(shape[name]!)?.mayChange === 'freely'),
  )
  const contents = inputPaths.map((name) => contentOf(options[name]))
  const sorted = counted.sort(([a], [b]) => (a < b ? -1 : 1))
  const different =
    lab && Object.entries(standardLab).filter(([name, value]) => labValue(lab, name) !== value)
  const place = different?.map(([name]) => [name, labValue(lab!, name)]) ?? null
  return dataFingerprint([method, seed, place, sorted, contents, await folderFingerprint(model)])
}

const labValue = (lab: LabSetting, name: string) => lab[name as keyof LabSetting]

function contentOf(path: unknown): string | null {
  if (typeof path !== 'string') return null
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return path
  }
}
