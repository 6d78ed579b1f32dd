import type { Group, SkillRead, Trajectory } from '../../lib/rollout/trajectory.js'
import type { ReadCategory } from '../../lib/skills/skill.js'

/** A read of a skill; its category is what the name begins with, up to a dash. */
export function readOf(skill: string, start = 0): SkillRead {
  const category = skill.split('-')[0] as ReadCategory
  const call = { start, end: start + 3 }
  const identity = { start: start + 1, end: start + 2 }
  return { skill, category, tool: 'read', sequence: 0, turn: 0, call, identity }
}

/** A group from the reward and the read skills of each rollout: `[1, 'oracle-a']`. Its tokens: one of a prompt, the reads, two more. */
export function groupOf(
  rollouts: readonly (readonly [reward: number | null, ...skills: string[]])[],
  more: { labelled?: boolean; index?: number } = {},
): Group {
  const { labelled = true, index = 0 } = more
  const trajectories = rollouts.map(([reward, ...skills], place): Trajectory => {
    const n = 1 + 3 * skills.length + 2
    const sequence = {
      tokens: Int32Array.from({ length: n }, (_, t) => 100 * place + t),
      generated: Uint8Array.from({ length: n }, (_, t) => (t === 0 ? 0 : 1)),
      logprobs: new Float32Array(n),
      turns: [],
    }
    return {
      ...{ task: `t${index}`, group: index, index: place, seed: 0, policyVersion: 0, labelled, reward },
      reads: skills.map((skill, i) => readOf(skill, 1 + 3 * i)),
      ...{ sequences: [sequence], slate: [], calls: [], truncated: false, turns: 1, messages: [] },
    }
  })
  return { task: `t${index}`, index, trajectories }
}
