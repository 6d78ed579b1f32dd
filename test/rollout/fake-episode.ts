import type { Agent, AgentSession, RolloutOutcome } from '../../lib/rollout/agent.js'
import type { Episode, RolloutStart } from '../../lib/rollout/episode.js'
import type { GroupOptions } from '../../lib/rollout/group.js'
import type { Failure, Trajectory } from '../../lib/rollout/trajectory.js'
import type { Task } from '../../lib/tasks/task.js'

/** An episode without a model: what is asked of it beyond its start and its end fails. */
export function fakeEpisode(start: RolloutStart): Episode {
  const { task, slate, seed, group, index, signal } = start
  const trajectory: Trajectory = {
    ...{
      task: task.id,
      group,
      index,
      seed,
      policyVersion: 1,
      sequences: [],
      slate: [],
      calls: [],
      reads: [],
    },
    ...{ labelled: slate.labelled, reward: null, truncated: false, turns: 0, messages: [] },
  }
  const finish = (result: RolloutOutcome | { failure: Failure }): Trajectory => ({ ...trajectory, ...result })
  const session: Pick<Episode, 'task' | 'slate' | 'seed' | 'signal' | 'finish'> = {
    task,
    slate,
    seed,
    signal,
    finish,
  }
  return session as Episode
}

export const tasks = (n: number): Task[] =>
  Array.from({ length: n }, (_, i) => ({ id: `t${i}`, prompt: `p${i}` }))

/** Options of a step whose rollouts only run `agent`. */
export function groupOptions(
  agent: (session: AgentSession, task: Task) => unknown,
  over: Partial<GroupOptions> = {},
): GroupOptions {
  return {
    agent: agent as Agent,
    openEpisode: fakeEpisode,
    deadlineMs: 10_000,
    groupSize: 4,
    concurrency: 8,
    seed: 11,
    step: 3,
    slateFor: () => ({ candidates: [], labelled: true }),
    ...over,
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
