import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { count, duration, interval, number, percent } from '../../lib/report/format.js'
import { filterJsonLines, JsonLines, readJsonLines } from '../../lib/report/json-lines.js'
import { Progress } from '../../lib/report/progress.js'
import { lossLine, stepLine } from '../../lib/report/step-line.js'
import { styleFor } from '../../lib/report/style.js'
import { displayWidth, table } from '../../lib/report/table.js'

describe('number formats', () => {
  it.each([
    [0, '0'],
    [0.03125, '0.0313'],
    [1.239, '1.24'],
    [-12.44, '-12.4'],
    [1234.5, '1235'],
    [3.14e-7, '3.1e-7'],
    [2.5e9, '2.5e+9'],
    [Number.NaN, '-'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [undefined, '-'],
  ])('number(%s) is %s', (value, text) => expect(number(value)).toBe(text))
  it.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [59.6, '1 min 00 s'],
    [185, '3 min 05 s'],
    [7450, '2 h 04 min'],
    [Number.NaN, '-'],
  ])('duration(%s) is %s', (value, text) => expect(duration(value)).toBe(text))
  it('says shares, counts and intervals', () => {
    expect([percent(0.375), percent(undefined)]).toEqual(['37.5%', '-'])
    expect([count(842), count(12_440), count(3.1e6), count(2e9)]).toEqual(['842', '12.4k', '3.1M', '2.0G'])
    const estimate = { value: 0.375, low: 0.301, high: 0.449 }
    expect(interval(estimate, 'percent')).toBe('37.5% [30.1, 44.9]')
    expect(interval(estimate, 'points')).toBe('+37.5 [30.1, 44.9]')
    expect(interval(estimate, 'number')).toBe('0.38 [0.30, 0.45]')
    expect(interval(undefined, 'number')).toBe('-')
  })
})

describe('table', () => {
  it('aligns by what a terminal shows', () => {
    expect(table([{ title: 'name' }, { title: 'n' }], [['北京', '1'], ['e\u0301', '22'], ['x']])).toBe(
      ['name   n', '----  --', '北京   1', 'e\u0301     22', 'x'].join('\n'),
    )
    expect(displayWidth('a👍')).toBe(3)
  })
})

describe('JSON lines', () => {
  const file = () => join(mkdtempSync(join(tmpdir(), 'skillgate-report-')), 'sub', 'metrics.jsonl')
  it('come back, numbers that JSON lacks as texts', () => {
    const path = file()
    const lines = new JsonLines(path)
    lines.write({ step: 1, loss: Number.NaN })
    lines.write({ step: 2, loss: Number.NEGATIVE_INFINITY })
    lines.close()
    expect(readJsonLines(path)).toEqual([
      { step: 1, loss: 'NaN' },
      { step: 2, loss: '-Infinity' },
    ])
  })
  it('lose a half-written line and what a filter drops', () => {
    const path = file()
    const lines = new JsonLines(path)
    for (const step of [1, 2, 3]) lines.write({ step })
    lines.close()
    appendFileSync(path, '{"step": 4, "lo')
    filterJsonLines(path, (record) => (record.step as number) <= 2)
    expect(readFileSync(path, 'utf8')).toBe('{"step":1}\n{"step":2}\n')
    filterJsonLines(join(path, '../none.jsonl'), () => true)
    expect(readJsonLines(join(path, '../none.jsonl'))).toEqual([])
  })
})

describe('Progress', () => {
  const recorder = (isTTY: boolean) => {
    const state = { text: '', time: 0 }
    const stream = { isTTY, columns: 20, write: (text: string) => (state.text += text) }
    return { state, progress: new Progress(stream, () => state.time) }
  }
  it('rewrites one line of a terminal, cut to its width', () => {
    const { state, progress } = recorder(true)
    progress.live('rollouts 1/128 and much more')
    progress.live('too soon')
    state.time = 1000
    progress.live('rollouts 2/128')
    progress.line('step 1')
    progress.end()
    expect(state.text).toBe('rollouts 1/128 and \r\x1b[2Krollouts 2/128\r\x1b[2Kstep 1\n')
  })
  it.each([0, 1, 2])('survives a terminal that says it is %i columns wide', (columns) => {
    let written = ''
    const progress = new Progress({ isTTY: true, columns, write: (text: string) => (written += text) })
    progress.live('rollouts 1/2')
    expect(written).toBe(columns === 0 ? 'rollouts 1/2' : 'r'.slice(0, columns - 1))
  })
  it('prints plain lines elsewhere, the live one every 20 seconds', () => {
    const { state, progress } = recorder(false)
    progress.live('a')
    state.time = 20_000
    progress.live('b')
    progress.live('c')
    progress.line('step 1')
    progress.end()
    expect(state.text).toBe('b\nstep 1\n')
  })
})

describe('lines and styles', () => {
  const figures = {
    step: 7,
    steps: 100,
    reward: 0.42,
    loss: 0.01,
    gradNorm: 0.8,
    kl: 2e-4,
    tokensPerSecond: 1234,
    secondsLeft: 65,
  }
  it('name each figure', () => {
    expect(stepLine({ ...figures, oracleRead: 0.5, misleadingRead: 0.25 })).toBe(
      'step   7/100  reward 0.420  oracle 50.0%  misleading 25.0%  loss 0.0100  grad norm 0.800  kl 2.0e-4  1.2k tok/s  left 1 min 05 s',
    )
    expect(stepLine(figures)).not.toContain('oracle')
    expect(lossLine({ ...figures, learningRate: 1e-3 })).toBe(
      'step   7/100  loss 0.0100  grad norm 0.800  rate 0.00100  1.2k tok/s  left 1 min 05 s',
    )
  })
  it('are plain without a terminal or with NO_COLOR', () => {
    const stream = { isTTY: true, write: () => true }
    expect(styleFor(stream, undefined).bold('x')).toBe('\x1b[1mx\x1b[22m')
    expect(styleFor(stream, '').bold('x')).toBe('\x1b[1mx\x1b[22m')
    expect(styleFor(stream, '1').bold('x')).toBe('x')
    expect(styleFor({ write: () => true }, undefined).red('x')).toBe('x')
  })
})
