import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { requireAgreement } from '../checkpoint/agreement.js'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { type Checkpoint, latestCheckpoint, listCheckpoints, readCheckpoint } from '../checkpoint/find.js'
import { sweepCheckpoints } from '../checkpoint/retain.js'
import type { RunState } from '../checkpoint/state.js'
import type { OptionSet, Shape } from '../config/option.js'
import { configDifferences, savedConfig } from '../config/saved.js'
import { SkillgateError } from '../errors.js'
import { filterJsonLines, readJsonLines } from '../report/json-lines.js'
import type { Emit } from './events.js'

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

const trajectoriesFolder = (output: string) => join(output, 'trajectories')

/** Where the trajectories of a step are written. */
export const trajectoriesFile = (output: string, step: number) =>
  join(trajectoriesFolder(output), `step-${String(step).padStart(6, '0')}.jsonl`)

/** Where a run begins. */
export interface RunStart {
  /** The state after the last completed step. */
  state: RunState
  /** The checkpoint of that step; none: the run is at its beginning. */
  from?: Checkpoint
  /** What config.json holds. */
  config: Record<string, unknown>
}

/**
 * Finds where a run begins, and takes away what lies beyond it, so that the run writes it again.
 * @throws ERR_OUTPUT_EXISTS, ERR_CHECKPOINT_MISMATCH, ERR_CHECKPOINT
 */
export async function startRun(
  set: OptionSet<Shape>,
  options: RunOptions,
  plan: RunPlan,
  emit: Emit,
): Promise<RunStart> {
  const { output, resume, model } = options
  const { recipe, inputs, steps } = plan
  const config = savedConfig(set.shape, options)
  if (!resume) await refuseSecondRun(output)
  await sweepCheckpoints(output)
  const from = await latestCheckpoint(output)
  let state = newState(options, plan)
  if (from) {
    const saved = await readCheckpoint(from)
    const { forbidden, rounding } = configDifferences(set.shape, saved.config, config)
    await requireAgreement(from, saved.state, { recipe, inputs, model }, forbidden)
    for (const difference of rounding) {
      emit({ type: 'warning', text: `the last digits of the results will differ: ${difference}` })
    }
    emit({ type: 'notice', text: `going on after step ${from.step} of ${steps}, from ${from.dir}` })
    state = saved.state
  } else if (resume) {
    emit({
      type: 'notice',
      text: `there is no complete checkpoint in ${output} yet: starting from the beginning`,
    })
  }
  await forgetBeyond(output, from ? state : undefined)
  await writeWhole(diskFiles, output, 'config.json', `${JSON.stringify(config, null, 1)}\n`)
  return { state, from, config }
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
  if (checkpoints.length === 0 && readJsonLines(join(output, 'metrics.jsonl')).length === 0) return
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
