import type { Slate } from '../skills/skill.js'
import type { Task } from '../tasks/task.js'
import type { AgentSession, RolloutOutcome } from './agent.js'
import type { Failure, Trajectory } from './trajectory.js'

/** What one rollout starts from. The same start and weights give the same trajectory. */
export interface RolloutStart {
  task: Task
  slate: Slate
  seed: number
  /** Draw number of the group within the step, and place within the group. */
  group: number
  index: number
  signal: AbortSignal
}

/** A session together with the end of it. */
export interface Episode extends AgentSession {
  /** Ends the session: later calls of the agent are refused, the cache is given back. */
  finish(result: RolloutOutcome | { failure: Failure }): Trajectory
}
