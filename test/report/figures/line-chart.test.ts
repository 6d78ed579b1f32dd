import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineChart } from '../../../lib/report/figures/line-chart.js'
import { overlaps, tagsOf, textBoxes } from './svg-shapes.js'

const words = {
  ...{ id: 'curves', title: 'Curves', description: 'What they show.' },
  ...{ xLabel: 'Step', y: { label: 'Reward' } },
}
const curve = (ys: readonly number[]) => ys.map((y, x) => ({ x, y }))
const drawn = (svg: string, name: string) =>
  tagsOf(svg).filter(({ attributes }) => attributes.class?.startsWith(`${name} `))

describe('lineChart', () => {
  it('draws each curve through all of its points, rising with the values', () => {
    const series = [{ name: 'a', points: curve([0, 1, 2, 3]) }]
    const svg = lineChart({ ...words, series }, { standalone: false })
    const path = drawn(svg, 'line')[1]!.attributes.d!
    const points = Array.from(path.matchAll(/[ML]([\d.]+) ([\d.]+)/g), (m) => [Number(m[1]), Number(m[2])])
    expect(points).toHaveLength(4)
    for (const [i, [x, y]] of points.entries())
      if (i > 0) {
        expect(x).toBeGreaterThan(points[i - 1]![0]!)
        expect(y).toBeLessThan(points[i - 1]![1]!)
      }
  })

  it('shades the area of intervals', () => {
    const points = [1, 2, 3].map((x) => ({ x, y: x, low: x - 1, high: x + 1 }))
    const svg = lineChart({ ...words, series: [{ name: 'a', points }] }, { standalone: false })
    expect(drawn(svg, 'band').map(({ attributes }) => attributes.points!.split(' ').length)).toEqual([6])
  })

  it('marks a curve of one point, and draws none of no points', () => {
    const series = [
      { name: 'a', points: curve([5]) },
      { name: 'b', points: [] },
    ]
    const svg = lineChart({ ...words, series }, { standalone: false })
    expect(svg).not.toMatch(/NaN|undefined/)
    // Two of each are in the legend.
    expect(drawn(svg, 'full').length + drawn(svg, 'hollow').length).toBe(3)
    expect(drawn(svg, 'line')).toHaveLength(2)
  })

  it('has no two texts in one place, whatever its numbers are', () => {
    const ys = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { maxLength: 200 })
    const names = fc.stringMatching(/^[a-z-]{1,16}$/)
    const series = fc.array(fc.tuple(names, ys), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(series, (given) => {
        const svg = lineChart(
          { ...words, series: given.map(([name, values]) => ({ name, points: curve(values) })) },
          { standalone: false },
        )
        expect(svg).not.toMatch(/NaN|Infinity|undefined/)
        expect(overlaps(textBoxes(svg))).toEqual([])
      }),
      { numRuns: 60 },
    )
  }, 60_000)
})
