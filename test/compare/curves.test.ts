import { describe, expect, it } from 'vitest'
import { learningCurve } from '../../lib/compare/charts.js'
import { meanCurve, movingMean } from '../../lib/compare/curves.js'
import { curveGroups } from '../../lib/compare/write-summary.js'

describe('a moving mean', () => {
  it('is over the value and those before it', () => {
    expect(movingMean([1, 3, 5, 7], 2)).toEqual([1, 2, 4, 6])
    expect(movingMean([undefined, 2, undefined], 2)).toEqual([undefined, 2, 2])
  })
})

describe('a mean curve', () => {
  const run = (...rewards: number[]) =>
    rewards.map((reward, i) => ({ step: i + 1, reward, oracleRead: reward }))
  it('goes as far as all runs do, between the lowest and the highest', () => {
    const curve = meanCurve([run(0, 0.2, 0.4), run(0.2, 0.4)], 'oracleRead')
    expect(curve.map(({ x }) => x)).toEqual([1, 2])
    expect(curve[0]!.y).toBeCloseTo(10)
    expect(curve[1]!.y).toBeCloseTo(20)
    expect(curve[0]).toMatchObject({ low: 0, high: 20 })
    expect(curve[1]!.high).toBeCloseTo(30)
  })
  it('leaves out what was not measured', () => {
    expect(meanCurve([run(0.5, 0.5)], 'misleadingRead')).toEqual([])
    const curves = [{ variant: 'skill-free', runs: [run(0.5)] }]
    expect(learningCurve(curves, 'misleadingRead').series).toEqual([])
    expect(learningCurve(curves, 'reward').series[0]!.points).toEqual([{ x: 1, y: 0.5 }])
  })
})

describe('groups of curves', () => {
  const named = (...names: string[]) => names.map((variant) => ({ variant }))
  const groups = (...names: string[]) =>
    curveGroups(named(...names), 'base').map((group) => group.map(({ variant }) => variant).join(''))
  it('are one where all are few, else each with the baseline', () => {
    expect(groups()).toEqual([])
    expect(groups('a', 'base', 'b')).toEqual(['abaseb'])
    expect(groups('base', 'a', 'b', 'c', 'd', 'e', 'f')).toEqual(['baseabc', 'basedef'])
    expect(groups('a', 'b', 'c', 'd', 'e', 'f')).toEqual(['abc', 'def'])
  })
})
