import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../lib/compare/run-record.js'
import { summarise } from '../../lib/compare/summary.js'
import { differencesTable, figuresTable, markdownTable, summaryText } from '../../lib/compare/tables.js'
import { figureValue, trialFigures } from '../../lib/compare/trial-figures.js'
import { groupOf, trial } from './trials.js'

/** A run in which each of four tasks succeeds, having read the oracle alone, or fails after a misleading read. */
function run(method: string, seed: number, succeeds: readonly boolean[]): RunRecord {
  const groups = succeeds.map((well, i) =>
    groupOf(well ? trial(`t${i}`, 1, ['oracle']) : trial(`t${i}`, 0, ['misleading', 'oracle'])),
  )
  return {
    ...{ fingerprint: 'f', method, seed, steps: 1, threads: 1, finishedAt: '' },
    ...trialFigures(groups),
    seconds: { training: 10, evaluation: 1 },
  }
}

const grpo = [run('grpo', 0, [true, false, false, false]), run('grpo', 1, [true, true, false, false])]
const skillgate = [
  run('skillgate', 0, [true, true, true, false]),
  run('skillgate', 1, [true, true, true, true]),
]
const variants = [
  { variant: 'grpo', runs: grpo, planned: 2 },
  { variant: 'skillgate', runs: skillgate, planned: 3 },
]

describe('figures of trials', () => {
  const groups = [
    groupOf(trial('a', 1, ['oracle']), trial('a', 0, ['oracle', 'oracle'])),
    groupOf(trial('b', null, []), trial('b', 1, ['misleading', 'oracle'])),
    groupOf(trial('c', 1, ['unadvertised'], false)),
  ]
  const { sums, reads, failed, trials } = trialFigures(groups)
  it('count success over all trials, reads over those of labelled tasks', () => {
    expect([trials, failed]).toEqual([5, 1])
    expect(sums.success).toEqual({
      a: { sum: 1, count: 2 },
      b: { sum: 1, count: 2 },
      c: { sum: 1, count: 1 },
    })
    expect(figureValue(sums.oracleRead)).toBe(3 / 4)
    expect(figureValue(sums.misleadingRead)).toBe(1 / 4)
    expect(figureValue(sums.reads)).toBe(5 / 4)
    expect(reads).toEqual({ oracle: 1, relevant: 0, irrelevant: 0, misleading: 1 / 4, unadvertised: 0 })
  })
  it('call an oracle clean where it is the only read', () => {
    expect(figureValue(sums.cleanOracle)).toBe(1 / 4)
  })
  it('are nothing without a trial', () => {
    expect(figureValue(trialFigures([]).sums.success)).toBeUndefined()
  })
})

describe('a summary', () => {
  const summary = summarise(variants, 'grpo')
  it('has means over seeds and differences by task against the baseline', () => {
    const [base, other] = summary.variants
    expect(base!.differences).toBeUndefined()
    expect(base!.figures.success!.value).toBe(3 / 8)
    expect(other!.figures.success!.value).toBe(7 / 8)
    expect(other!.values.success).toEqual([3 / 4, 1])
    const difference = other!.differences!.success!
    expect(difference).toMatchObject({ value: 1 / 2, seeds: 2, higher: 2, lower: 0 })
    // By task the differences are 0, 1/2, 1, 1/2: no resampling leaves 0 to 1.
    expect(difference.overSeeds).toMatchObject({ value: 1 / 2, low: 1 / 2, high: 1 / 2, runs: 2 })
    expect(difference.low).toBeGreaterThanOrEqual(0)
    expect(difference.high).toBeLessThanOrEqual(1)
    expect(other!.differences!.misleadingRead).toMatchObject({ value: -1 / 2, higher: 0, lower: 2 })
  })

  it('compares only seeds that both have', () => {
    const lone = summarise(
      [variants[0]!, { variant: 'x', runs: [run('x', 7, [true, true, true, true])], planned: 1 }],
      'grpo',
    )
    expect(lone.variants[1]!.differences!.success).toBeUndefined()
    expect(differencesTable(lone)).toBeUndefined()
  })

  it('is shown with its intervals, and says which runs are missing', () => {
    const { titles, rows } = figuresTable(summary)
    expect(titles).toEqual([
      'method',
      'seeds',
      'success',
      'oracle read',
      'misleading read',
      'reads a trial',
      'clean oracle',
    ])
    expect(rows[1]!.slice(0, 3)).toEqual(['skillgate', '2 of 3', '87.5% [0.0, 100.0]'])
    expect(differencesTable(summary)!.rows[0]![1]).toMatch(/^\+50\.0 \[[\d.]+, [\d.]+\], 2\/2$/)
    expect(markdownTable(figuresTable(summary)).split('\n')).toHaveLength(4)
    expect(summaryText(summary)).toContain('t interval')
  })

  it('of nothing at all has rows without figures', () => {
    const empty = summarise([{ variant: 'grpo', runs: [], planned: 5 }], 'grpo')
    expect(figuresTable(empty).rows).toEqual([['grpo', '0 of 5', '-', '-', '-', '-', '-']])
  })
})
