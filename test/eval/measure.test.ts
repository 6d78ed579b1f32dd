import { describe, expect, it } from 'vitest'
import { measureChange, measureTrials } from '../../lib/eval/measure.js'
import type { Group, Trajectory } from '../../lib/rollout/trajectory.js'
import type { ReadCategory } from '../../lib/skills/skill.js'

const range = { start: 0, end: 1 }

function trial(task: string, reward: number | null, reads: ReadCategory[], labelled = true): Trajectory {
  return {
    task,
    group: 0,
    index: 0,
    seed: 0,
    policyVersion: 0,
    sequences: [
      {
        tokens: Int32Array.of(1, 2, 3),
        generated: Uint8Array.of(0, 1, 1),
        logprobs: new Float32Array(3),
        turns: [{ start: 1, end: 3 }],
      },
    ],
    slate: [],
    calls: [],
    reads: reads.map((category) => ({
      skill: category,
      category,
      tool: 'read',
      sequence: 0,
      turn: 0,
      call: range,
      identity: range,
    })),
    labelled,
    reward,
    ...(reward === null && { failure: { code: 'ERR_DEADLINE', message: 'late' } }),
    truncated: false,
    turns: 1,
    messages: [],
  }
}

const groupOf = (...trajectories: Trajectory[]): Group => ({
  task: trajectories[0]!.task,
  index: 0,
  trajectories,
})

describe('measureTrials', () => {
  const groups = [
    groupOf(trial('a', 1, ['oracle']), trial('a', 0, ['misleading', 'oracle'])),
    groupOf(trial('b', 0.4, []), trial('b', null, ['irrelevant'])),
    groupOf(trial('c', 0, ['unadvertised'], false), trial('c', 1, [], false)),
  ]
  it('counts by hand', () => {
    const measured = measureTrials(groups)
    const value = Object.fromEntries(
      Object.entries(measured.estimates).map(([name, { value }]) => [name, value]),
    )
    expect(value).toEqual({
      success: 3 / 6,
      reward: (1 + 0 + 0.4 + 0 + 1) / 5,
      oracleRead: 2 / 4,
      misleadingRead: 1 / 4,
      firstReadOracle: 1 / 3,
      reads: 4 / 4,
    })
    expect(measured).toMatchObject({ tasks: 3, trials: 6, failed: { ERR_DEADLINE: 1 }, tokens: 12 })
  })
  it('takes the threshold of success', () => {
    expect(measureTrials(groups, { successAbove: 0.5 }).estimates.success!.value).toBe(2 / 6)
  })
  it('leaves out what no trial counts for', () => {
    const unlabelled = measureTrials([groupOf(trial('c', 1, [], false))]).estimates
    expect(Object.keys(unlabelled)).toEqual(['success', 'reward'])
    expect(measureTrials([groupOf(trial('c', null, []))]).estimates.reward).toBeUndefined()
    expect(measureTrials([]).estimates).toEqual({})
  })
  it('survives JSON, and compares with another evaluation', () => {
    const before = JSON.parse(
      JSON.stringify(measureTrials([groupOf(trial('a', 0, [])), groupOf(trial('b', 1, []))])),
    )
    const after = measureTrials([groupOf(trial('a', 1, ['oracle'])), groupOf(trial('b', 1, []))])
    expect(measureChange(before, after, 'success')!.value).toBe(0.5)
    expect(measureChange(before, after, 'oracleRead')!.value).toBe(0.5)
    expect(measureChange(before, after, 'firstReadOracle')).toBeUndefined()
  })
})
