import { join } from 'node:path'
import { latestCheckpoint } from '../checkpoint/find.js'
import { readCurve, readRunRecord, writeRunRecord } from '../compare/run-record.js'
import { type RunSpec, specFingerprint } from '../compare/run-spec.js'
import type { RunProgress } from '../compare/schedule.js'
import { trialFigures } from '../compare/trial-figures.js'
import { evalOptions } from '../config/eval-options.js'
import type { Shape } from '../config/option.js'
import { rlOptions } from '../config/rl-options.js'
import { selectionBcOptions, selectionDpoOptions } from '../config/selection-options.js'
import { type SkillLab, skillLab } from '../environments/skill-lab/index.js'
import { type EvaluateConfig, evaluate } from '../recipes/evaluate.js'
import type { Emit } from '../recipes/events.js'
import { type TrainConfig, train } from '../recipes/rl.js'
import type { RunResult } from '../recipes/run-folder.js'
import { type SelectionBcConfig, selectionBc } from '../recipes/selection-bc.js'
import { type SelectionDpoConfig, selectionDpo } from '../recipes/selection-dpo.js'
import { readTrajectories } from '../rollout/trajectory-file.js'

export interface PlayOptions {
  signal?: AbortSignal
  onProgress?: (progress: RunProgress) => void
  /** The environment, where another than that of the spec is wanted. */
  lab?: SkillLab
}

/** What trains a method: its options, and what it does with them. */
interface Recipe {
  shape: Shape
  run(config: Record<string, unknown>): Promise<RunResult>
}

const selection: Readonly<Record<string, Recipe>> = {
  'selection-bc': {
    shape: selectionBcOptions.shape,
    run: (config) => selectionBc(config as unknown as SelectionBcConfig),
  },
  'selection-dpo': {
    shape: selectionDpoOptions.shape,
    run: (config) => selectionDpo(config as unknown as SelectionDpoConfig),
  },
}

const reinforcement: Recipe = {
  shape: rlOptions.shape,
  run: (config) => train(config as unknown as TrainConfig),
}

/** Trains with the options that the method has; of the others, such as the size of groups, it knows nothing. */
function trainWith(method: string, options: Record<string, unknown>): Promise<RunResult> {
  const { shape, run } = Object.hasOwn(selection, method) ? selection[method]! : reinforcement
  const known = Object.entries({ ...options, method }).filter(([name]) => Object.hasOwn(shape, name))
  return run(Object.fromEntries(known))
}

/** The evaluation counts as so many steps of training where progress is told. */
const evaluationSteps = 3

/** Steps of a run for its progress, the evaluation included. */
export function stepsOf({ method, options }: RunSpec): number {
  return (method === 'sft' ? 0 : Number(options.steps ?? 100)) + evaluationSteps
}

/** Whether the run is finished with exactly this spec. */
export async function isFinished(spec: RunSpec): Promise<boolean> {
  const record = readRunRecord(spec.output)
  return record !== undefined && record.fingerprint === (await specFingerprint(spec, rlOptions.shape))
}

/**
 * Plays one run of a comparison: training, from its last checkpoint if there is one, then the held-out tasks, then its record.
 * @returns false where the signal stopped it
 * @throws what `train` and `evaluate` throw; ERR_CHECKPOINT_MISMATCH where the folder holds a run with other options
 */
export async function playRun(
  spec: RunSpec,
  { signal, onProgress, ...given }: PlayOptions = {},
): Promise<boolean> {
  const { method, seed, output, model } = spec
  const total = stepsOf(spec)
  const steps = total - evaluationSteps
  const tell = (done: number, text: string) => onProgress?.({ done, total, text })
  let done = (await latestCheckpoint(output))?.step ?? 0
  tell(done, 'starting')
  const onEvent: Emit = (event) => {
    if (event.type === 'step' || event.type === 'loss') {
      done = event.figures.step
      tell(done, `step ${done}/${steps}`)
    } else if (event.type === 'progress') {
      const evaluating = event.what.startsWith('evaluation')
      tell(
        done + (evaluating ? evaluationSteps * (event.done / event.total) : 0),
        `${event.what} ${event.done}/${event.total}`,
      )
    } else if (event.type === 'notice') tell(done, event.text)
  }
  const setting = await openSetting(spec, given.lab)
  const options = { ...spec.options, ...setting, seed, signal, onEvent }
  try {
    let trained = model
    if (method !== 'sft') {
      const result = await trainWith(method, { ...options, model, output, resume: true })
      if (result.stopped) return false
      trained = join(result.checkpoint!, 'model')
    }
    done = steps
    tell(done, 'evaluation')
    const begun = Date.now()
    const folder = join(output, 'evaluation')
    await evaluate({ ...evaluationOf(options), model: trained, output: folder } as unknown as EvaluateConfig)
    const groups = await readTrajectories(join(folder, 'trajectories.jsonl'))
    await writeRunRecord(output, {
      fingerprint: await specFingerprint(spec, rlOptions.shape),
      ...{ method, seed, steps },
      ...trialFigures(groups),
      seconds: { training: readCurve(output).seconds, evaluation: (Date.now() - begun) / 1000 },
      threads: Number(spec.options.threads ?? 0),
      finishedAt: new Date().toISOString(),
    })
    tell(total, 'done')
    return true
  } catch (error) {
    if (signal?.aborted) return false
    throw error
  }
}

/** Agent, skills and tasks of the built-in environment; otherwise the paths among the options stand. */
async function openSetting({ lab: setting }: RunSpec, given?: SkillLab) {
  if (!setting) return {}
  const lab = given ?? (await skillLab(setting))
  return { agent: lab.agent, skills: lab.skills, tasks: lab.trainTasks, heldOut: lab.heldOutTasks }
}

/** The options of the evaluation among those of the training. */
function evaluationOf(options: Record<string, unknown>): Record<string, unknown> {
  const { heldOut, evalTasks, evalTrials, evalTemperature = 1, evalTopP = 0.7, ...rest } = options
  const shared = Object.entries(rest).filter(([name]) => Object.hasOwn(evalOptions.shape, name))
  return {
    ...Object.fromEntries(shared),
    tasks: heldOut,
    ...(evalTasks !== undefined && { maxTasks: evalTasks }),
    ...(evalTrials !== undefined && { trials: evalTrials }),
    temperature: evalTemperature,
    topP: evalTopP,
  }
}
