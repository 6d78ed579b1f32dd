import { SkillgateError } from '../errors.js'
import type { Task } from '../tasks/task.js'
import { expectCount, type GroupOptions, playGroups } from './group.js'
import { allEqual, type Failure, type Group, survivors, type Trajectory } from './trajectory.js'

export interface CollectOptions extends GroupOptions {
  /** The next task to draw; called in the order of the draws, as often as `draws` of the result says. */
  nextTask: () => Task
  /** Groups to keep. */
  groupsPerStep: number
  /** Drop a group whose rewards are all equal and draw another task. Default true. */
  dynamicSampling?: boolean
  /** Whether a group of equal rewards is kept all the same, since there is something else to learn from it. Default: never. */
  keepAnyway?: (group: Group) => boolean
  /** Groups drawn, at most, as a multiple of `groupsPerStep`. Default 2. */
  overSampling?: number
}

/** `equal-rewards`: nothing to learn from; `too-few-rewards`: fewer than two rollouts came to a reward. */
export type DropReason = 'equal-rewards' | 'too-few-rewards'

export interface CollectResult {
  /** The groups to train on, in the order of their draws. */
  kept: Group[]
  dropped: { group: Group; reason: DropReason }[]
  draws: number
  warnings: string[]
}

interface Drawn {
  group: Group
  reason?: DropReason
}

/**
 * Plays the groups of one step. Each group that is dropped is replaced by a new draw, until `groupsPerStep` are kept or
 * the draws are used up; so which groups are played and kept follows from the seeds, never from who finishes first.
 * A rollout without a reward leaves its group; the others are scored among themselves.
 *
 * Errors: ERR_ALL_ROLLOUTS_FAILED (no rollout of the first `groupsPerStep` draws came to a reward), ERR_ABORTED.
 */
export async function collect(options: CollectOptions): Promise<CollectResult> {
  const { nextTask, groupsPerStep, overSampling = 2, groupSize } = options
  expectCount('groupsPerStep', groupsPerStep, 1)
  expectCount('groupSize', groupSize, 2)
  if (!(overSampling >= 1)) {
    throw new SkillgateError(
      'ERR_INVALID_OPTION',
      `expected a number of at least 1 for overSampling, got ${overSampling}`,
    )
  }
  const most = Math.floor(groupsPerStep * overSampling)
  const drawn: Drawn[] = []
  let draws = 0
  await playGroups(options, (play) => {
    const keepOne = async (): Promise<void> => {
      while (draws < most) {
        const draw = draws++
        const group = await play(nextTask(), draw)
        const reason = dropReason(group, options)
        drawn[draw] = { group, reason }
        if (reason === undefined) return
        failIfAllFailed(drawn, groupsPerStep)
      }
    }
    return Array.from({ length: groupsPerStep }, keepOne)
  })
  const kept = drawn.flatMap(({ group, reason }) => (reason === undefined ? [group] : []))
  const dropped = drawn.flatMap(({ group, reason }) => (reason === undefined ? [] : [{ group, reason }]))
  return { kept, dropped, draws, warnings: warningsOf(kept, dropped, options) }
}

/** Plays `groupSize` rollouts of each task and drops nothing: for evaluation. Group i is task i. */
export async function playTasks(tasks: readonly Task[], options: GroupOptions): Promise<Group[]> {
  expectCount('groupSize', options.groupSize, 1)
  const groups: Group[] = []
  await playGroups(options, (play) =>
    tasks.map(async (task, i) => {
      groups[i] = await play(task, i)
    }),
  )
  return groups
}

function dropReason(group: Group, options: CollectOptions): DropReason | undefined {
  const { dynamicSampling = true, keepAnyway } = options
  const rewards = survivors(group).map((t) => t.reward)
  if (rewards.length < 2) return 'too-few-rewards'
  return dynamicSampling && allEqual(rewards) && !keepAnyway?.(group) ? 'equal-rewards' : undefined
}

function failIfAllFailed(drawn: readonly (Drawn | undefined)[], first: number): void {
  const done = drawn.filter((d) => d !== undefined)
  const waiting = Array.from({ length: first }, (_, draw) => drawn[draw]).includes(undefined)
  if (waiting || done.some(({ group }) => survivors(group).length > 0)) return
  const failed = done.flatMap(({ group }) => group.trajectories)
  throw new SkillgateError(
    'ERR_ALL_ROLLOUTS_FAILED',
    `expected rewards from the rollouts of this step, got none from ${failed.length}: ${failureSummary(failed)}`,
  )
}

/** `3 x ERR_AGENT (the agent threw ...)`: each code with its count and its first message. */
export function failureSummary(trajectories: readonly Trajectory[]): string {
  const byCode = new Map<string, Failure[]>()
  for (const { failure } of trajectories)
    if (failure) byCode.set(failure.code, [...(byCode.get(failure.code) ?? []), failure])
  return [...byCode].map(([code, all]) => `${all.length} x ${code} (${all[0]!.message})`).join(', ')
}

function warningsOf(
  kept: readonly Group[],
  dropped: CollectResult['dropped'],
  options: CollectOptions,
): string[] {
  const few = dropped.filter(({ reason }) => reason === 'too-few-rewards')
  const warnings = few.map(
    ({ group }) =>
      `group of task '${group.task}' dropped: ${survivors(group).length} of ${group.trajectories.length} rollouts ` +
      `came to a reward; ${failureSummary(group.trajectories)}`,
  )
  if (kept.length < options.groupsPerStep) {
    warnings.push(
      `${kept.length} of ${options.groupsPerStep} groups to train on after ${kept.length + dropped.length} draws: ` +
        `${dropped.length - few.length} with equal rewards, ${few.length} with too few rewards`,
    )
  }
  return warnings
}
