import { expect, it } from 'vitest'
import { experimentChart } from '../../lib/compare/experiment-chart.js'
import type { VariantSummary } from '../../lib/compare/summary.js'
import { categoryChart } from '../../lib/report/figures/category-chart.js'
import { overlaps, tagsOf, textBoxes } from '../report/figures/svg-shapes.js'

const summary = (values: number[]) =>
  ({
    figures: { success: { value: values.reduce((a, b) => a + b, 0) / values.length, runs: values.length } },
    values: { success: values },
  }) as unknown as VariantSummary

const points = [
  { label: '0', methods: { grpo: summary([0.5, 0.75]), skillgate: summary([0.6, 0.7]) } },
  { label: '15', methods: { grpo: summary([0.25, 0.5]) } },
]
const text = { id: 'failures-success', title: 'Execution that fails', xLabel: 'Commands that break (%)' }

it('an experiment is a line a method with a dot a run, broken where a method was not run', () => {
  const chart = experimentChart(points, 'success', { ...text, reference: { text: 'sft', value: 0.2 } })
  expect(chart.series.map(({ name }) => name)).toEqual(['grpo', 'skillgate'])
  expect(chart.series[1]!.data[1]).toBeNull()
  expect(chart.series[0]!.data[0]).toEqual({ value: 62.5, points: [50, 75] })
  expect(chart.reference!.value).toBe(20)
  expect(chart.description).toContain('grpo: 0: 62.5, 15: 37.5')
  const svg = categoryChart(chart).replace(/<style>.*<\/style>/s, '')
  const tags = tagsOf(svg)
  expect(tags.filter(({ attributes }) => attributes.class === 'dot')).toHaveLength(6)
  expect(tags.filter(({ attributes }) => attributes.class?.startsWith('line '))).toHaveLength(1 + 2)
  expect(overlaps(textBoxes(svg))).toEqual([])
})
