import { join } from 'node:path'
import { diskFiles, makeOutputFolder, writeWhole } from '../checkpoint/files.js'
import { checkOptions } from '../config/check.js'
import { type EvalOptions, type EvalOptionsIn, evalOptions } from '../config/eval-options.js'
import { savedConfig } from '../config/saved.js'
import { type Measurement, measureTrials } from '../eval/measure.js'
import type { Agent } from '../rollout/agent.js'
import { failureSummary, playTasks } from '../rollout/collect.js'
import { type OpenPolicy, openNativePolicy, openSkills, openTasks } from '../rollout/setting.js'
import type { Group } from '../rollout/trajectory.js'
import { writeTrajectories } from '../rollout/trajectory-file.js'
import { printEvents } from './console.js'
import type { Emit } from './events.js'
import { openStage, type Policy, type SkillSource, type Stage, type Task } from './stage.js'

/** Options that hold functions or objects, with their types. */
interface Given {
  agent: string | Agent
  tasks: string | readonly Task[]
  skills?: SkillSource
  openPolicy?: OpenPolicy
  onEvent?: Emit
}

export type EvaluateConfig = Omit<EvalOptionsIn, keyof Given> & Given
type Options = Omit<EvalOptions, keyof Given> & Given

/**
 * Plays held-out tasks with a model and measures success and reads, each with a 95% interval. The same seed plays the same slates with
 * the same random choices, so that two models can be compared.
 * @throws ERR_CONFIG, and what reading the model, the skills and the tasks throws
 */
export async function evaluate(config: EvaluateConfig): Promise<Measurement> {
  const options = checkOptions(evalOptions, config) as Options
  const emit = options.onEvent ?? printEvents()
  const skills = await openSkills(options.skills, options)
  const tasks = (await openTasks(options.tasks, skills.library)).slice(0, options.maxTasks)
  if (options.output !== undefined) await makeOutputFolder(options.output)
  const stage = await openStage(options, skills, (text) => emit({ type: 'warning', text }), new Date())
  const policy = await (options.openPolicy ?? openNativePolicy)(options.model, {
    ...options,
    trainable: false,
  })
  try {
    const { groups, measurement } = await playEvaluation(stage, policy, tasks, options, emit)
    emit({ type: 'evaluation', step: policy.version, measurement })
    if (options.output) await writeEvaluation(options.output, options, groups, measurement)
    return measurement
  } finally {
    policy.dispose()
  }
}

export interface EvaluationOptions {
  trials: number
  temperature: number
  topP: number
  seed: number
  successAbove?: number
  signal?: AbortSignal
}

/** Plays `trials` rollouts of each task and measures them. */
export async function playEvaluation(
  stage: Stage,
  policy: Policy,
  tasks: readonly Task[],
  options: EvaluationOptions,
  emit: Emit,
): Promise<{ groups: Group[]; measurement: Measurement }> {
  const { trials, temperature, topP, seed, signal, successAbove } = options
  const total = tasks.length * trials
  let done = 0
  const groups = await playTasks(tasks, {
    ...stage.play(policy, { temperature, topP }),
    groupSize: trials,
    seed,
    step: 0,
    signal,
    onRollout: () => emit({ type: 'progress', what: 'evaluation: trials', done: ++done, total }),
  })
  const failed = groups.flatMap((group) => group.trajectories).filter((trial) => trial.failure)
  if (failed.length > 0) {
    emit({ type: 'warning', text: `${failed.length} of ${total} trials failed: ${failureSummary(failed)}` })
  }
  return { groups, measurement: measureTrials(groups, { successAbove }) }
}

async function writeEvaluation(
  output: string,
  options: Options,
  groups: readonly Group[],
  measurement: Measurement,
) {
  await writeTrajectories(
    join(output, 'trajectories.jsonl'),
    groups.map((group) => ({ ...group, step: 0 })),
  )
  const record = { options: savedConfig(evalOptions.shape, options), measurement }
  await writeWhole(diskFiles, output, 'evaluation.json', `${JSON.stringify(record, null, 1)}\n`)
}
