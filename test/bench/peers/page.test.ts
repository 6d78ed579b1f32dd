import { describe, expect, it } from 'vitest'
import { densityGate, gated, gates, type Row, verdict } from '../../../bench/peers/gates.js'
import { page } from '../../../bench/peers/page.js'

const at = (median: number) => ({ median, low: median - 0.01, high: median + 0.01 })

const circumstances = {
  date: '2026-01-02',
  commit: 'abc1234',
  processor: 'a processor (2 cores)',
  memoryGiB: 24,
  system: 'Linux 6',
  node: '20.0.0',
  engine: 'avx2, 2 threads',
  threads: 2,
  versions: { torch: '2' },
  minutes: 20,
  load: [0.1, 2] as const,
  peaks: [200, 210, 220],
  bandwidths: [],
}

describe('verdict', () => {
  it('asks for at least or at most, the goal before the gate', () => {
    expect([0.84, 0.85, 0.94, 0.95].map((x) => verdict(gates.C1, x))).toEqual([
      'missed',
      'gate',
      'gate',
      'goal',
    ])
    expect([1.06, 1.05, 1.03].map((x) => verdict(gates.C7, x))).toEqual(['missed', 'gate', 'goal'])
    expect([0.31, 0.3, 0.2].map((x) => verdict(densityGate(0.25), x))).toEqual(['missed', 'gate', 'gate'])
    expect(verdict(gates.C6, Number.NaN)).toBe('missed')
  })
})

describe('page', () => {
  const comparison: Row = {
    what: 'PyTorch compiled / ours',
    shape: 'T 8',
    value: at(3),
    rounds: 15,
    byCpu: 2.5,
  }
  const text = page(
    [
      gated('M1', { shape: 'T 8', value: at(1.5), rounds: 1, why: 'because | of it' }),
      comparison,
      gated('C1', { what: 'MKL / ours', shape: 'T 8', value: at(0.8), rounds: 15 }),
    ],
    circumstances,
  )

  it('lists limits in order, with value, gate, goal, what was reached and why', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| C1') || line.startsWith('| M1'))
    expect(rows).toEqual([
      '| C1 | MKL / ours | T 8 | **0.80** | 0.79 .. 0.81 | 15 |  | >= 0.85 | >= 0.95 | missed |  |',
      `| M1 | ${gates.M1.text} | T 8 | **1.50** | 1.49 .. 1.51 | 1 |  | <= 2.00 | <= 1.20 | gate | because \\| of it |`,
    ])
  })

  it('tells how the machine was, and the others apart', () => {
    expect(text).toContain('load average 0.1 at the start, 2.0 at the end')
    expect(text).toContain('210 GFLOP/s (middle half 205 .. 215)')
    expect(text).toContain('| PyTorch compiled / ours | T 8 | **3.00** | 2.99 .. 3.01 | 15 | 2.50 |')
    expect(text.indexOf('## Others')).toBeLessThan(text.indexOf('| PyTorch compiled'))
  })
})
