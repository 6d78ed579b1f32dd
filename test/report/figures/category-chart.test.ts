import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CategoryChart, categoryChart, type Datum } from '../../../lib/report/figures/category-chart.js'
import { overlaps, tagsOf, textBoxes } from './svg-shapes.js'

const chart = (over: Partial<CategoryChart>): CategoryChart => ({
  id: 'test',
  title: 'A title',
  description: 'What it shows.',
  xLabel: 'Length (tokens)',
  categories: [{ label: 'a' }, { label: 'b' }],
  y: { label: 'Rate (%)' },
  series: [{ name: 'one', mark: 'bar', data: [{ value: 10 }, { value: 40 }] }],
  ...over,
})
const shapes = (svg: string, name: string) => tagsOf(svg).filter((tag) => tag.name === name)
const bars = (svg: string) =>
  shapes(svg, 'rect')
    .filter(({ attributes }) => /^(full|edge) /.test(attributes.class ?? ''))
    .map(({ attributes }) => ({ y: Number(attributes.y), height: Number(attributes.height) }))
    .slice(1)

describe('categoryChart', () => {
  it('draws bars from zero, as high as their values', () => {
    const [small, large] = bars(categoryChart(chart({})))
    expect(large!.height / small!.height).toBeCloseTo(4, 2)
    expect(large!.y + large!.height).toBeCloseTo(small!.y + small!.height, 2)
  })

  it('draws negative bars down from zero', () => {
    const data = [{ value: -20 }, { value: 20 }]
    const [down, up] = bars(categoryChart(chart({ series: [{ name: 'one', mark: 'bar', data }] })))
    expect(down!.y).toBeCloseTo(up!.y + up!.height, 2)
    expect(down!.height).toBeCloseTo(up!.height, 2)
  })

  it('has a dash where a category has no value, and still draws the rest', () => {
    const data = [null, { value: 3, text: '3.0' }]
    const svg = categoryChart(chart({ series: [{ name: 'one', mark: 'point', data }] }))
    const texts = textBoxes(svg).map((box) => box.text)
    expect(texts.filter((text) => text === '\u2013')).toHaveLength(1)
    expect(texts).toContain('3.0')
  })

  it('breaks a line at a missing value and before a category apart', () => {
    const categories = ['a', 'b', 'c', 'd', 'e', 'all'].map((label) => ({ label, apart: label === 'all' }))
    const data = [1, 2, null, 4, 5, 6].map((value) => (value === null ? null : { value }))
    const svg = categoryChart(chart({ categories, series: [{ name: 'one', mark: 'line', data }] }))
    const lines = shapes(svg, 'path').filter(({ attributes }) => attributes.class?.startsWith('line'))
    // One in the legend, one through a and b, one through d and e.
    expect(lines.map(({ attributes }) => attributes.d!.match(/[ML]/g)!.join(''))).toEqual(['ML', 'ML', 'ML'])
  })

  it('marks zero and less on a logarithmic axis at its lower end', () => {
    const data = [{ value: 0 }, { value: 10 }, { value: 0.1 }]
    const categories = ['a', 'b', 'c'].map((label) => ({ label }))
    const y = { label: 'Share (%)', scale: 'log' as const }
    const svg = categoryChart(chart({ categories, y, series: [{ name: 'one', mark: 'point', data }] }))
    const [, zero, ten, tenth] = shapes(svg, 'circle').map(({ attributes }) => Number(attributes.cy))
    expect(zero).toBe(tenth)
    expect(ten).toBeLessThan(zero!)
  })

  it('tells ten series apart without colour', () => {
    const series = Array.from({ length: 10 }, (_, i) => ({
      ...{ name: `series ${i}`, mark: 'point' as const },
      data: [{ value: 1 }, { value: 2 }],
    }))
    const svg = categoryChart(chart({ series }))
    const looks = tagsOf(svg)
      .filter(({ name, attributes }) => /circle|polygon/.test(name) && attributes.class)
      .map(({ name, attributes: { class: paint, points = '' } }) => {
        const corners = points.split(' ').map((corner) => corner.split(',').map(Number))
        const [x0, y0] = corners[0]!
        const shape = corners.map(([x, y]) => `${Math.round(x! - x0!)} ${Math.round(y! - y0!)}`).join()
        return `${name} ${paint!.split(' ')[0]} ${name === 'circle' ? '' : shape}`
      })
    expect(looks).toHaveLength(30)
    expect(new Set(looks).size).toBe(10)
  })

  it('writes a value inside a bar that holds it, and above one that is too low or too narrow', () => {
    const place = (values: number[]) => {
      const data = values.map((value) => ({ value, text: value.toFixed(1) }))
      const categories = values.map((_, i) => ({ label: String.fromCharCode(97 + i) }))
      const svg = categoryChart(chart({ categories, series: [{ name: 'one', mark: 'bar', data }] }))
      const texts = textBoxes(svg).filter((box) => box.className.startsWith('value'))
      return bars(svg).map((box, i) => (texts[i]!.y > box.y ? 'inside' : 'above'))
    }
    expect(place([50, 1])).toEqual(['inside', 'above'])
    expect(place(Array(10).fill(50))).toEqual(Array(10).fill('above'))
  })

  it('hatches the bars of a second series and defines the hatching', () => {
    const series = ['one', 'two'].map((name) => ({
      ...{ name, mark: 'bar' as const },
      data: [{ value: 1 }, { value: 2 }],
    }))
    const svg = categoryChart(chart({ id: 'fig-7', series }))
    const fills = shapes(svg, 'rect').map(({ attributes }) => attributes.fill)
    expect(fills).toContain('url(#fig-7-1)')
    expect(shapes(svg, 'pattern').map(({ attributes }) => attributes.id)).toEqual(['fig-7-1'])
  })

  it('escapes every text it is given', () => {
    const nasty = `<b>&"' \u0000\ud800`
    const svg = categoryChart(
      chart({
        ...{ title: nasty, description: nasty, xLabel: nasty },
        ...{ y: { label: nasty }, categories: [{ label: nasty, note: nasty }, { label: 'b' }] },
        ...{ series: [{ name: nasty, mark: 'bar', data: [{ value: 1, text: nasty }, null] }] },
        reference: { value: 1, text: nasty },
      }),
    )
    expect(() => tagsOf(svg.replace(/<style>.*<\/style>/s, ''))).not.toThrow()
    expect(svg).not.toContain('\u0000')
    expect(svg).not.toMatch(/\p{Surrogate}/u)
  })

  it('stands alone with its style, or takes that of a page', () => {
    expect(categoryChart(chart({}))).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*>.*<style>.*prefers-color-scheme/s,
    )
    expect(categoryChart(chart({}), { standalone: false })).not.toContain('<style>')
  })
})

const value = fc.double({ min: -1e6, max: 1e6, noNaN: true })
const datum = fc.oneof(
  fc.constant(null),
  fc.record({ value, spread: fc.double({ min: 0, max: 1e4, noNaN: true }), hasEnds: fc.boolean() }).map(
    ({ value, spread, hasEnds }): Datum => ({
      ...{ value, text: value.toPrecision(3) },
      ...(hasEnds ? { low: value - spread, high: value + spread } : {}),
    }),
  ),
)
const anyChart = fc
  .record({
    count: fc.integer({ min: 1, max: 10 }),
    names: fc.array(fc.stringMatching(/^[a-z]{1,14}$/), { minLength: 1, maxLength: 4 }),
    mark: fc.constantFrom('bar', 'point', 'line' as const),
    scale: fc.constantFrom('linear', 'log' as const),
    data: fc.array(fc.array(datum, { minLength: 10, maxLength: 10 }), { minLength: 4, maxLength: 4 }),
    labels: fc.array(fc.stringMatching(/^[a-z0-9-]{1,18}$/), { minLength: 10, maxLength: 10 }),
    notes: fc.boolean(),
  })
  .map(({ count, names, mark, scale, data, labels, notes }) =>
    chart({
      categories: labels.slice(0, count).map((label, i) => ({
        label,
        ...(notes ? { note: `n=${i * 37}` } : {}),
        apart: i === count - 1,
      })),
      y: { label: 'Something measured in percentage points (%)', scale },
      series: names.map((name, i) => ({ name, mark, data: data[i]!.slice(0, count) })),
    }),
  )

describe('any category chart', () => {
  it('is well formed, without a number that is none', () => {
    fc.assert(
      fc.property(anyChart, (spec) => {
        const svg = categoryChart(spec, { standalone: false })
        tagsOf(svg)
        expect(svg).not.toMatch(/NaN|Infinity|undefined/)
      }),
      { numRuns: 100 },
    )
  }, 60_000)

  it('has no two texts in one place, and none outside the figure', () => {
    fc.assert(
      fc.property(anyChart, (spec) => {
        const svg = categoryChart(spec, { standalone: false })
        const [, , width, height] = tagsOf(svg)[0]!.attributes.viewBox!.split(' ').map(Number)
        const boxes = textBoxes(svg)
        expect(overlaps(boxes.filter((box) => !box.className.startsWith('value')))).toEqual([])
        for (const box of boxes) {
          expect(box.left, box.text).toBeGreaterThanOrEqual(-1)
          expect(box.right, box.text).toBeLessThanOrEqual(width! + 1)
          expect(box.top, box.text).toBeGreaterThanOrEqual(0)
          expect(box.bottom, box.text).toBeLessThanOrEqual(height!)
        }
        if (spec.series.length === 1)
          expect(overlaps(boxes.filter((box) => box.className.startsWith('value')))).toEqual([])
      }),
      { numRuns: 100 },
    )
  }, 60_000)
})
