import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stackChart } from '../../../lib/report/figures/stack-chart.js'
import { overlaps, tagsOf, textBoxes } from './svg-shapes.js'

const methods = [
  'sft',
  'grpo',
  'skill-free',
  'masked-task-only',
  'trajectory-bonus',
  'first-oracle',
  'skillgate',
]
const chart = (categories: readonly string[], series: readonly (readonly number[])[]) => ({
  ...{ id: 'stack', title: 'What is read', description: 'd', xLabel: 'Mean over seeds' },
  ...{ categories: categories.map((label) => ({ label })), y: { label: 'Reads a trial' } },
  series: series.map((values, i) => ({ name: `category ${i}`, values })),
})
const barsOf = (svg: string) =>
  tagsOf(svg.replace(/<style>.*<\/style>/s, ''))
    .filter(
      ({ name, attributes }) => name === 'rect' && attributes.x && /full|edge/.test(attributes.class ?? ''),
    )
    .map(({ attributes: { x, y, height } }) => ({ x: Number(x), y: Number(y), height: Number(height) }))
    // The legend's samples are 12 high and stand above the plot.
    .filter(({ height, y }) => !(height === 12 && y < 80))

describe('a stack chart', () => {
  it('stands each series on those before it, in proportion', () => {
    const [low, high] = barsOf(stackChart(chart(['a'], [[1], [3]])))
    expect(high!.x).toBe(low!.x)
    expect(high!.y + high!.height).toBeCloseTo(low!.y, 1)
    expect(high!.height / low!.height).toBeCloseTo(3, 1)
  })

  it('leaves out parts of nothing, and marks a category without any by a dash', () => {
    const svg = stackChart(
      chart(
        ['a', 'b'],
        [
          [1, 0],
          [0, 0],
        ],
      ),
    )
    expect(barsOf(svg)).toHaveLength(1)
    expect(
      textBoxes(svg.replace(/<style>.*<\/style>/s, '')).filter(({ text }) => text === '\u2013'),
    ).toHaveLength(1)
  })

  it('never reaches beyond its axis, and its texts do not touch', () => {
    const heights = fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { minLength: 7, maxLength: 7 })
    fc.assert(
      fc.property(fc.array(heights, { minLength: 1, maxLength: 5 }), (series) => {
        const svg = stackChart(chart(methods, series)).replace(/<style>.*<\/style>/s, '')
        const top = Math.max(
          ...textBoxes(svg)
            .filter(({ text }) => text === 'Reads a trial')
            .map(({ y }) => y),
        )
        for (const bar of barsOf(svg)) expect(bar.y).toBeGreaterThanOrEqual(top)
        expect(overlaps(textBoxes(svg))).toEqual([])
      }),
      { numRuns: 50 },
    )
  })
})
