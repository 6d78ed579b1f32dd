import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeOutputFolder } from '../checkpoint/files.js'
import { type Checkpoint, checkpointPath } from '../checkpoint/find.js'
import { lockFolder } from '../checkpoint/lock.js'
import { retainCheckpoints } from '../checkpoint/retain.js'
import { isDiskFull, saveCheckpoint } from '../checkpoint/save.js'
import type { RunState } from '../checkpoint/state.js'
import type { OptionSet, Shape } from '../config/option.js'
import { SkillgateError } from '../errors.js'
import { JsonLines } from '../report/json-lines.js'
import type { OpenPolicy, PolicyOptions } from '../rollout/setting.js'
import type { Emit } from './events.js'
import { type RunOptions, type RunPlan, type RunStart, startRun } from './run-start.js'
import type { Policy } from './stage.js'

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

/** A run's folder: config.json, metrics.jsonl, trajectories/ and checkpoints/, and where in it the run starts. */
export class RunFolder {
  /** The state after the last completed step. */
  readonly start: RunState
  readonly #metrics: JsonLines
  readonly warn: (text: string) => void
  readonly #options: RunOptions
  readonly #plan: RunPlan
  readonly #config: Record<string, unknown>
  readonly #emit: Emit
  readonly #release: () => void
  readonly #opened: Policy[] = []
  #saved: Checkpoint | undefined

  private constructor(
    options: RunOptions,
    plan: RunPlan,
    emit: Emit,
    release: () => void,
    { state, from, config }: RunStart,
  ) {
    this.#options = options
    this.#plan = plan
    this.#config = config
    this.#emit = emit
    this.#release = release
    this.#saved = from
    this.start = state
    this.warn = (text) => emit({ type: 'warning', text })
    this.#metrics = new JsonLines(join(options.output, 'metrics.jsonl'))
  }

  /**
   * Opens the folder for a new run, or for the rest of one.
   * @throws ERR_OUTPUT, ERR_OUTPUT_EXISTS, ERR_OUTPUT_BUSY, ERR_CHECKPOINT_MISMATCH, ERR_CHECKPOINT
   */
  static async open(
    set: OptionSet<Shape>,
    options: RunOptions,
    plan: RunPlan,
    emit: Emit,
  ): Promise<RunFolder> {
    await makeOutputFolder(options.output)
    const release = lockFolder(options.output)
    try {
      return new RunFolder(options, plan, emit, release, await startRun(set, options, plan, emit))
    } catch (error) {
      release()
      throw error
    }
  }

  /** The policy as the run starts with it: the checkpoint's weights and moments, or the model's own weights. */
  async openPolicy(open: OpenPolicy, options: PolicyOptions): Promise<Policy> {
    const from = this.#saved
    const policy = await open(from ? join(from.dir, 'model') : this.#options.model, {
      ...options,
      trainable: true,
    })
    this.#opened.push(policy)
    if (!from) return policy
    await policy.loadOptimizer(join(from.dir, 'optimizer.safetensors'))
    if (policy.version === this.start.policyVersion) return policy
    throw new SkillgateError(
      'ERR_CHECKPOINT',
      `${from.dir}: expected the optimizer after ${this.start.policyVersion} steps, got it after ${policy.version}`,
    )
  }

  /** The frozen policy of the model's own weights. */
  async openReference(open: OpenPolicy, options: PolicyOptions): Promise<Policy> {
    const reference = await open(this.#options.model, { ...options, trainable: false })
    this.#opened.push(reference)
    return reference
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
  async saveIfDue(state: RunState): Promise<void> {
    const { step, best } = state
    const last = step >= this.#plan.steps
    const due = step > 0 && (last || step % this.#options.checkpointEvery === 0 || best?.step === step)
    if (!due || this.#saved?.step === step) return
    try {
      await this.#save(state)
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
  async afterError(error: unknown, state: RunState): Promise<RunResult> {
    const aborted = this.#options.signal?.aborted === true
    const policy = this.#opened[0]
    const whole =
      policy?.version === state.policyVersion && state.step > 0 && this.#saved?.step !== state.step
    if (whole && (error as SkillgateError).code !== 'ERR_NON_FINITE_WEIGHTS') {
      try {
        await policy!.zeroGradients()
        await this.#save(state)
      } catch (second) {
        this.warn((second as Error).message)
      }
    }
    if (!aborted) throw error
    return this.result(state)
  }

  /** Adds a line to metrics.jsonl. */
  writeMetrics(type: string, step: number, figures: object): Promise<void> {
    return this.writeRecord(() => this.#metrics.write({ type, step, ...figures }))
  }

  /** Writes what the run can do without: a full disk is a warning. */
  async writeRecord(write: () => void | Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      if (!isDiskFull(error)) throw error
      this.warn(`no space left in ${this.#options.output}; a record was not written, the run goes on`)
    }
  }

  /** Gives back the policies, the files and the folder. */
  close(): void {
    for (const policy of this.#opened) policy.dispose()
    this.#metrics.close()
    this.#release()
  }

  async #save(state: RunState): Promise<void> {
    const { output, keepLast } = this.#options
    this.#saved = await saveCheckpoint({ output, policy: this.#opened[0]!, state, config: this.#config })
    this.#emit({ type: 'checkpoint', ...this.#saved })
    await retainCheckpoints(output, { keepLast, best: state.best?.step })
  }
}
