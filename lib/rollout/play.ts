import { SkillgateError } from '../errors.js'
import { linkedController, throwIfAborted, unlessAborted } from './abort.js'
import type { Agent } from './agent.js'
import type { Episode, RolloutStart } from './episode.js'
import { checkOutcome } from './outcome.js'
import type { Failure, SkillRead, Trajectory } from './trajectory.js'

export interface PlayOptions {
  agent: Agent
  openEpisode: (start: RolloutStart) => Episode
  /** Milliseconds a rollout may take. */
  deadlineMs: number
  /** Which of a trajectory's calls read which skill; without it no read is recorded. */
  findReads?: (trajectory: Trajectory) => SkillRead[]
}

/** Node fires timers beyond this at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Plays one rollout. Whatever the agent does, a trajectory comes back: with a reward, or with the reason why there is
 * none. An agent that ignores its signal is left behind at the deadline; its session refuses further calls. Rejects
 * only where the run itself is aborted (ERR_ABORTED) or no episode can be opened.
 */
export async function playRollout(
  start: Omit<RolloutStart, 'signal'>,
  options: PlayOptions,
  run: AbortSignal,
): Promise<Trajectory> {
  throwIfAborted(run)
  const { agent, openEpisode, deadlineMs, findReads } = options
  const { controller, unlink } = linkedController(run)
  const late = () => {
    const message = `expected the rollout to end within ${deadlineMs} ms, it did not`
    controller.abort(new SkillgateError('ERR_DEADLINE', message))
  }
  const episode = openEpisode({ ...start, signal: controller.signal })
  const timer = deadlineMs <= LONGEST_TIMER_MS ? setTimeout(late, deadlineMs) : undefined
  let trajectory: Trajectory | undefined
  try {
    const playing = (async () => agent(episode, start.task))()
    const outcome = checkOutcome(await unlessAborted(playing, controller.signal), start.task.id)
    trajectory = episode.finish(outcome)
    return findReads ? { ...trajectory, reads: findReads(trajectory) } : trajectory
  } catch (cause) {
    const failure = failureOf(cause)
    trajectory ??= episode.finish({ failure })
    throwIfAborted(run)
    return { ...trajectory, reward: null, failure }
  } finally {
    clearTimeout(timer)
    unlink()
  }
}

function failureOf(cause: unknown): Failure {
  if (cause instanceof SkillgateError) return { code: cause.code, message: cause.message }
  const message = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
  return { code: 'ERR_AGENT', message: `the agent threw ${message}` }
}
