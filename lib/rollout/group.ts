import { SkillgateError } from '../errors.js'
import type { Slate } from '../skills/skill.js'
import type { Task } from '../tasks/task.js'
import { linkedController, throwIfAborted } from './abort.js'
import { Limiter } from './limiter.js'
import { type PlayOptions, playRollout } from './play.js'
import { groupSeed, rolloutSeed } from './seeds.js'
import type { Group, Trajectory } from './trajectory.js'

export interface GroupOptions extends PlayOptions {
  /** Rollouts of each task. */
  groupSize: number
  /** Rollouts that run at the same time. No result depends on it. */
  concurrency: number
  /** Of the run; with `step`, the draw and the place in the group it determines each rollout's seed. */
  seed: number
  step: number
  /** The slate of a group; `seed` is the group's own. */
  slateFor: (task: Task, seed: number) => Slate
  /** Called with every finished rollout, in the order in which they finish. */
  onRollout?: (trajectory: Trajectory) => void
  signal?: AbortSignal
}

/** Plays one group: the rollouts of a task, numbered `draw` within the step. */
export type PlayGroup = (task: Task, draw: number) => Promise<Group>

/**
 * Runs jobs that play groups under one limit of concurrency. The first error, whatever threw it, stops every rollout
 * that still runs, and is thrown once they have stopped.
 */
export async function playGroups(
  options: GroupOptions,
  start: (play: PlayGroup) => Promise<void>[],
): Promise<void> {
  expectCount('concurrency', options.concurrency, 1)
  expectCount('seed', options.seed, 0)
  expectCount('step', options.step, 0)
  if (!(options.deadlineMs > 0)) {
    throw new SkillgateError(
      'ERR_INVALID_OPTION',
      `expected a number above 0 for deadlineMs, got ${options.deadlineMs}`,
    )
  }
  const { controller: stop, unlink } = linkedController(options.signal)
  const limiter = new Limiter(options.concurrency)
  const play: PlayGroup = async (task, draw) => {
    const slate = options.slateFor(task, groupSeed(options.seed, options.step, draw))
    const place = async (index: number): Promise<Trajectory> => {
      try {
        const seed = rolloutSeed(options.seed, options.step, draw, index)
        const trajectory = await playRollout({ task, slate, seed, group: draw, index }, options, stop.signal)
        options.onRollout?.(trajectory)
        return trajectory
      } catch (cause) {
        stop.abort(cause)
        throw cause
      }
    }
    const places = Array.from({ length: options.groupSize }, (_, index) => limiter.run(() => place(index)))
    await Promise.allSettled(places)
    return { task: task.id, index: draw, trajectories: await Promise.all(places) }
  }
  const jobs = start(play)
  try {
    await Promise.all(jobs)
  } catch (cause) {
    stop.abort(cause)
    await Promise.allSettled(jobs)
    if (options.signal) throwIfAborted(options.signal)
    throw stop.signal.reason
  } finally {
    unlink()
  }
}

export function expectCount(name: string, got: number, least: number): void {
  if (Number.isSafeInteger(got) && got >= least) return
  throw new SkillgateError(
    'ERR_INVALID_OPTION',
    `expected an integer of at least ${least} for ${name}, got ${got}`,
  )
}
