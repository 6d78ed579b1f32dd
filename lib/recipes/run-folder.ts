import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { requireAgreement } from '../checkpoint/agreement.js'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { type Checkpoint, latestCheckpoint, listCheckpoints, readCheckpoint } from '../checkpoint/find.js'
import { retainCheckpoints, sweepCheckpoints } from '../checkpoint/retain.js'
import { type SavedPolicy, saveCheckpoint } from '../checkpoint/save.js'
import type { RunState } from '../checkpoint/state.js'
import type { OptionSet, Shape } from '../config/option.js'
import { configDifferences, savedConfig } from '../config/saved.js'
import { SkillgateError } from '../errors.js'
import { filterJsonLines, JsonLines } from '../report/json-lines.js'
import type { Emit } from './events.js'

export interface RunOptions {
  output: string
  model: string
  seed: number
  resume: boolean
  keepLast: number
}

const trajectoriesFolder = (output: string) => join(output, 'trajectories')

/** Where the trajectories of a step are written. */
export const trajectoriesFile = (output: string, step: number) =>
  join(trajectoriesFolder(output), `step-${String(step).padStart(6, '0')}.jsonl`)

/** A run's folder: config.json, metrics.jsonl, trajectories/ and checkpoints/. */
export class RunFolder {
  /** The checkpoint the run goes on from; none: it starts at the beginning. */
  readonly checkpoint: Checkpoint | undefined
  /** The state after the last completed step. */
  readonly start: RunState
  readonly metrics: JsonLines
  readonly #options: RunOptions
  readonly #config: Record<string, unknown>
  readonly #emit: Emit

  private constructor(
    options: RunOptions,
    config: Record<string, unknown>,
    emit: Emit,
    start: RunState,
    from?: Checkpoint,
  ) {
    this.#options = options
    this.#config = config
    this.#emit = emit
    this.start = start
    this.checkpoint = from
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
    run: Pick<RunState, 'recipe' | 'inputs'>,
    emit: Emit,
  ): Promise<RunFolder> {
    const { output, resume } = options
    const config = savedConfig(set.shape, options)
    await mkdir(output, { recursive: true })
    const from = await latestCheckpoint(output)
    if (!resume) await refuseSecondRun(output)
    await sweepCheckpoints(output)
    let start: RunState = {
      format: 1,
      step: 0,
      policyVersion: 0,
      seed: options.seed,
      data: { epoch: 0, index: 0 },
      counters: {},
      ...run,
    }
    if (from) {
      const saved = await readCheckpoint(from)
      const { forbidden, rounding } = configDifferences(set.shape, saved.config, config)
      await requireAgreement(from, saved.state, { ...run, model: options.model }, forbidden)
      for (const difference of rounding)
        emit({ type: 'warning', text: `the last digits of the results will differ: ${difference}` })
      emit({ type: 'notice', text: `going on after step ${from.step}, from ${from.dir}` })
      start = saved.state
    } else if (resume) {
      emit({
        type: 'notice',
        text: `there is no complete checkpoint in ${output} yet: starting from the beginning`,
      })
    }
    await forgetBeyond(output, start.step)
    await writeWhole(diskFiles, output, 'config.json', `${JSON.stringify(config, null, 1)}\n`)
    return new RunFolder(options, config, emit, start, from)
  }

  /**
   * Saves a completed step and deletes what need not be kept. A full disk costs the checkpoint, not the run, unless it is the last one.
   * @throws ERR_NON_FINITE_WEIGHTS; with `last` also ERR_DISK_FULL and ERR_CHECKPOINT
   */
  async save(policy: SavedPolicy, state: RunState, last: boolean): Promise<Checkpoint | undefined> {
    const { output, keepLast } = this.#options
    try {
      const saved = await saveCheckpoint({ output, policy, state, config: this.#config })
      await retainCheckpoints(output, { keepLast, best: state.best?.step })
      this.#emit({ type: 'checkpoint', ...saved })
      return saved
    } catch (cause) {
      const { code, message } = cause as SkillgateError
      if (last || code === 'ERR_NON_FINITE_WEIGHTS') throw cause
      this.#emit({ type: 'warning', text: `${message}; the run goes on` })
      return undefined
    }
  }

  close(): void {
    this.metrics.close()
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

/** Takes away the metrics and trajectories of steps after `step`. */
async function forgetBeyond(output: string, step: number): Promise<void> {
  filterJsonLines(
    join(output, 'metrics.jsonl'),
    (record) => typeof record.step === 'number' && record.step <= step,
  )
  const folder = trajectoriesFolder(output)
  for (const name of await readdir(folder).catch(() => [])) {
    const of = /^\.?step-(\d+)\.jsonl/.exec(name)
    if (of && (name.startsWith('.') || Number(of[1]) > step)) await rm(join(folder, name), { force: true })
  }
}
