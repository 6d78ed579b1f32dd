import type { Group, SkillRead, Trajectory } from '../../lib/rollout/trajectory.js'
import type { ReadCategory } from '../../lib/skills/skill.js'

const nowhere = { start: 0, end: 0 }

/** A trial of which only its reward and what it read is told. */
export function trial(
  task: string,
  reward: number | null,
  reads: readonly ReadCategory[],
  labelled = true,
): Trajectory {
  const read = (category: ReadCategory): SkillRead => ({
    ...{ skill: category, category, tool: 'read', sequence: 0, turn: 0, call: nowhere, identity: nowhere },
  })
  return {
    ...{ task, group: 0, index: 0, seed: 0, policyVersion: 0, sequences: [], slate: [], calls: [] },
    ...{ reads: reads.map(read), labelled, reward, truncated: false, turns: 1, messages: [] },
  }
}

export const groupOf = (...trajectories: Trajectory[]): Group => ({
  task: trajectories[0]!.task,
  index: 0,
  trajectories,
})
