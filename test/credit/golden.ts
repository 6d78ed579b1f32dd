import { readFileSync } from 'node:fs'
import type { Group, TokenRange, Trajectory } from '../../lib/rollout/trajectory.js'
import type { ReadCategory } from '../../lib/skills/skill.js'

export interface GoldenExpected {
  outcome_advantage: number[]
  action_advantage: number[][]
  action_utility: number[][]
  task_weight: number[][]
  selector_weight: number[][]
  selector_advantage: number[][]
  kept_by_dynamic_sampling: boolean[]
}

interface GoldenTrajectory {
  loss_mask: number[]
  reward: number
  reads: { skill: string; category: ReadCategory; call_tokens: number[]; identity_tokens: number[] }[]
}

interface GoldenBatch {
  groups: { trajectories: GoldenTrajectory[] }[]
  expected: { clean_oracle: GoldenExpected; first_oracle: GoldenExpected }
}

const file = new URL('../fixtures/golden/credit/groups.json', import.meta.url)
const batches: GoldenBatch[] = JSON.parse(readFileSync(file, 'utf8')).batches

/** Update batches of the released code, as groups of trajectories. */
export const goldenBatches = batches.map(({ groups, expected }) => ({
  groups: groups.map(
    ({ trajectories }, g): Group => ({
      task: `task-${g}`,
      index: g,
      trajectories: trajectories.map((t, i) => trajectoryOf(t, g, i)),
    }),
  ),
  expected,
}))

function trajectoryOf(golden: GoldenTrajectory, group: number, index: number): Trajectory {
  const n = golden.loss_mask.length
  const sequence = {
    tokens: Int32Array.from({ length: n }, (_, t) => t),
    generated: Uint8Array.from(golden.loss_mask),
    logprobs: new Float32Array(n),
    turns: [],
  }
  return {
    ...{
      task: `task-${group}`,
      group,
      index,
      seed: index,
      policyVersion: 0,
      labelled: true,
      truncated: false,
    },
    ...{ sequences: [sequence], slate: [], calls: [], turns: 1, messages: [], reward: golden.reward },
    reads: golden.reads.map((read) => ({
      ...{ skill: read.skill, category: read.category, tool: 'read', sequence: 0, turn: 0 },
      call: rangeOf(read.call_tokens),
      identity: rangeOf(read.identity_tokens),
    })),
  }
}

function rangeOf(tokens: number[]): TokenRange {
  const range = { start: tokens[0]!, end: tokens.at(-1)! + 1 }
  if (range.end - range.start !== tokens.length) throw new Error(`not a range: ${tokens}`)
  return range
}
