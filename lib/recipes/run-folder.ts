import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { requireAgreement } from '../checkpoint/agreement.js'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import {
  type Checkpoint,
  checkpointPath,
  latestCheckpoint,
  listCheckpoints,
  readCheckpoint,
} from '../checkpoint/find.js'
import { retainCheckpoints, sweepCheckpoints } from '../checkpoint/retain.js'
import { saveCheckpoint } from '../checkpoint/save.js'
import type { RunState } from '../checkpoint/state.js'
import type { OptionSet, Shape } from '../config/option.js'
import { configDifferences, savedConfig } from '../config/saved.js'
import { SkillgateError } from '../errors.js'
import { filterJsonLines, JsonLines } from '../report/json-lines.js'
import type { OpenPolicy, PolicyOptions } from '../rollout/setting.js'
import type { Emit } from './events.js'
import type { Policy } from './stage.js'

export interface RunOptions {
  output: string
  model: string
  seed: number
  resume: boolean
  checkpointEvery: number
  keepLast: number
  signal?: AbortSignal
}

/** What a recipe says of its run beside the options. */
export interface RunPlan extends Pick<RunState, 'recipe' | 'inputs'> {
  steps: number
  /** Evaluate after each `every` steps (0: none of them) and after the last; absent: never. */
  evaluation?: { every: number }
}

export interface RunResult {
  output: string
  /** Steps completed, of `steps`. */
  step: number
  steps: number
  /** True where the signal ended the run before its last step. */
  stopped: boolean
  /** Folder of the last checkpoint; its `model` is a Hugging Face folder. Absent where none was saved. */
  checkpoint?: string
  best?: { step: number; metric: string; value: number; checkpoint: string }
  /** Sums over the run, e.g. steps skipped. */
  counters: Record<string, number>
}

const trajectoriesFolder = (output: string) => join(output, 'trajectories')

/** Where the trajectories of a step are written. */
export const trajectoriesFile = (output: string, step: number) =>
  join(trajectoriesFolder(output), `step-${String(step).padStart(6, '0')}.jsonl`)

/** A run's folder: config.json, metrics.jsonl, trajectories/ and checkpoints/, and where in it the run starts. */
export class RunFolder {
  /** The state after the last completed step. */
  readonly start: RunState
  readonly metrics: JsonLines
  readonly warn: (text: string) => void
  readonly #options: RunOptions
  readonly #plan: RunPlan
  readonly #config: Record<string, unknown>
  readonly #emit: Emit
  #saved: Checkpoint | undefined

  private constructor(
    options: RunOptions,
    plan: RunPlan,
    config: Record<string, unknown>,
    emit: Emit,
    start: RunState,
    from?: Checkpoint,
  ) {
    this.#options = options
    this.#plan = plan
    this.#config = config
    this.#emit = emit
    this.#saved = from
    this.start = start
    this.warn = (text) => emit({ type: 'warning', text })
    this.metrics = new JsonLines(join(options.output, 'metrics.jsonl'))
  }

  /**
   * Opens the folder for a new run, or for the rest of one: what lies beyond the last complete checkpoint is taken away, so that the
   * run writes it again.
   * @throws ERR_OUTPUT_EXISTS, ERR_CHECKPOINT_MISMATCH, ERR_CHECKPOINT
   */
  static async open(
    set: OptionSet<Shape>,
    options: RunOptions,
    plan: RunPlan,
    emit: Emit,
  ): Promise<RunFolder> {
    const { output, resume } = options
    const { recipe, inputs } = plan
    const config = savedConfig(set.shape, options)
    await mkdir(output, { recursive: true })
    if (!resume) await refuseSecondRun(output)
    await sweepCheckpoints(output)
    const from = await latestCheckpoint(output)
    let start = newState(options, plan)
    if (from) {
      const saved = await readCheckpoint(from)
      const { forbidden, rounding } = configDifferences(set.shape, saved.config, config)
      await requireAgreement(from, saved.state, { recipe, inputs, model: options.model }, forbidden)
      for (const difference of rounding) {
        emit({ type: 'warning', text: `the last digits of the results will differ: ${difference}` })
      }
      emit({ type: 'notice', text: `going on after step ${from.step} of ${plan.steps}, from ${from.dir}` })
      start = saved.state
    } else if (resume) {
      emit({
        type: 'notice',
        text: `there is no complete checkpoint in ${output} yet: starting from the beginning`,
      })
    }
    await forgetBeyond(output, from ? start : undefined)
    await writeWhole(diskFiles, output, 'config.json', `${JSON.stringify(config, null, 1)}\n`)
    return new RunFolder(options, plan, config, emit, start, from)
  }

  /** The policy as the run starts with it: the checkpoint's weights and moments, or the model's own weights. */
  async openPolicy(open: OpenPolicy, options: PolicyOptions): Promise<Policy> {
    const from = this.#saved
    const policy = await open(from ? join(from.dir, 'model') : this.#options.model, {
      ...options,
      trainable: true,
    })
    if (!from) return policy
    await policy.loadOptimizer(join(from.dir, 'optimizer.safetensors'))
    if (policy.version === this.start.policyVersion) return policy
    const got = policy.version
    policy.dispose()
    throw new SkillgateError(
      'ERR_CHECKPOINT',
      `${from.dir}: expected the optimizer after ${this.start.policyVersion} steps, got it after ${got}`,
    )
  }

  evaluationDue({ step, evaluated }: RunState): boolean {
    const { evaluation, steps } = this.#plan
    if (!evaluation || evaluated === step) return false
    return step >= steps || (evaluation.every > 0 && step % evaluation.every === 0)
  }

  /** The state with its evaluation noted, and the step as the best one where `metric` has never been higher. */
  afterEvaluation(
    state: RunState,
    metric: string,
    estimates: Readonly<Record<string, { value: number } | undefined>>,
  ): RunState {
    const value = estimates[metric]?.value
    const better = value !== undefined && !(state.best?.metric === metric && state.best.value >= value)
    return { ...state, evaluated: state.step, ...(better && { best: { step: state.step, metric, value } }) }
  }

  /**
   * Saves a completed step where it is time, the last or the best, and deletes what need not be kept. A full disk costs the checkpoint,
   * not the run, unless the step is the last.
   * @throws ERR_NON_FINITE_WEIGHTS; for the last step also ERR_DISK_FULL and ERR_CHECKPOINT
   */
  async saveIfDue(policy: Policy, state: RunState): Promise<void> {
    const { step, best } = state
    const last = step >= this.#plan.steps
    const due = step > 0 && (last || step % this.#options.checkpointEvery === 0 || best?.step === step)
    if (!due || this.#saved?.step === step) return
    try {
      await this.#save(policy, state)
    } catch (error) {
      const { code, message } = error as SkillgateError
      if (last || code === 'ERR_NON_FINITE_WEIGHTS') throw error
      this.warn(`${message}; the run goes on`)
    }
  }

  /** What a run that came to its end, or was stopped, has come to. */
  result(state: RunState): RunResult {
    const { output } = this.#options
    const { step, best, counters } = state
    const bestIsThere = best !== undefined && existsSync(checkpointPath(output, best.step))
    return {
      output,
      step,
      steps: this.#plan.steps,
      stopped: step < this.#plan.steps,
      ...(this.#saved && { checkpoint: this.#saved.dir }),
      ...(bestIsThere && { best: { ...best, checkpoint: checkpointPath(output, best.step) } }),
      counters,
    }
  }

  /**
   * After whatever ended the steps: saves the last completed one if the policy still is as that step left it. Returns where the signal
   * was the reason, throws the error otherwise.
   */
  async afterError(error: unknown, policy: Policy, state: RunState): Promise<RunResult> {
    const aborted = this.#options.signal?.aborted === true
    const whole = policy.version === state.policyVersion && state.step > 0 && this.#saved?.step !== state.step
    if (whole && (error as SkillgateError).code !== 'ERR_NON_FINITE_WEIGHTS') {
      try {
        await policy.zeroGradients()
        await this.#save(policy, state)
      } catch (second) {
        this.warn((second as Error).message)
      }
    }
    if (!aborted) throw error
    return this.result(state)
  }

  close(): void {
    this.metrics.close()
  }

  async #save(policy: Policy, state: RunState): Promise<void> {
    const { output, keepLast } = this.#options
    this.#saved = await saveCheckpoint({ output, policy, state, config: this.#config })
    this.#emit({ type: 'checkpoint', ...this.#saved })
    await retainCheckpoints(output, { keepLast, best: state.best?.step })
  }
}

function newState({ seed }: RunOptions, { recipe, inputs }: RunPlan): RunState {
  const data = { epoch: 0, index: 0 }
  return {
    format: 1,
    recipe,
    step: 0,
    policyVersion: 0,
    seed,
    startedAt: Date.now(),
    data,
    counters: {},
    inputs,
  }
}

async function refuseSecondRun(output: string): Promise<void> {
  const checkpoints = await listCheckpoints(output)
  if (checkpoints.length === 0 && !existsSync(join(output, 'metrics.jsonl'))) return
  const through = checkpoints.length > 0 ? ` with a checkpoint of step ${checkpoints.at(-1)!.step}` : ''
  throw new SkillgateError(
    'ERR_OUTPUT_EXISTS',
    `expected an output folder without a run in it, got ${output}${through}: resume that run, or name another folder`,
  )
}

/** Takes away the metrics and trajectories that the run will write again: those after `state`, or all of them. */
async function forgetBeyond(output: string, state: RunState | undefined): Promise<void> {
  const { step, evaluated } = state ?? { step: -1 }
  filterJsonLines(join(output, 'metrics.jsonl'), (record) => {
    const of = record.step as number
    return of < step || (of === step && (record.type === 'step' || evaluated === step))
  })
  const folder = trajectoriesFolder(output)
  for (const name of await readdir(folder).catch(() => [])) {
    const of = /^\.?step-(\d+)\.jsonl/.exec(name)
    if (of && (name.startsWith('.') || Number(of[1]) > step)) await rm(join(folder, name), { force: true })
  }
}
