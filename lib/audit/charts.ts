import type { CategoryChart, Datum } from '../report/figures/category-chart.js'
import type { Audit } from './audit.js'
import { findings, pointsText, shareText } from './findings.js'
import type { Measures } from './measures.js'

/** The three charts of an audit, by length bin and over all. */
export function auditCharts(audit: Audit): Record<'share' | 'sign' | 'value', CategoryChart> {
  const all = [...audit.bins, { ...audit.overall, label: 'all' }]
  const categories = (note: (m: Measures) => number) =>
    all.map((m) => ({
      label: m.label.replace('<=', '\u2264'),
      note: `n=${note(m)}`,
      apart: m.label === 'all',
    }))
  const percents = (of: (m: Measures) => number | null, text: (value: number) => string) =>
    all.map((m): Datum | null => {
      const value = of(m)
      return value === null ? null : { value: 100 * value, text: text(value) }
    })
  const said = findings(audit)
  const length = 'Tokens sampled in a trajectory'
  return {
    share: {
      id: 'share',
      title: 'Share: how much of the loss is the choice',
      description: said.share,
      xLabel: `${length}; n: with a read`,
      categories: categories((m) => m.withRead),
      y: { label: 'Median share of sampled tokens (%, log scale)', scale: 'log' },
      series: [
        { name: 'whole read call', mark: 'line', data: percents((m) => m.callShareMedian, shareText) },
        {
          name: 'name of the skill in it',
          mark: 'line',
          textSide: 'below',
          data: percents((m) => m.identityShareMedian, shareText),
        },
      ],
    },
    sign: {
      id: 'sign',
      title: 'Sign: how often the right choice is blamed',
      description: said.sign,
      xLabel: `${length}; n: oracle readers`,
      categories: categories((m) => m.oracleReaders),
      y: { label: 'Negative advantage (% of oracle readers)' },
      series: [
        { name: 'negative advantage', mark: 'bar', data: percents((m) => m.oracleNegativeRate, shareText) },
      ],
      reference: { value: 50, text: '50%, a coin flip' },
    },
    value: {
      id: 'value',
      title: 'Value: what the right choice is worth',
      description: said.value,
      xLabel: 'Tokens sampled, median of a group; n: tasks',
      categories: categories((m) => m.value.tasks),
      y: { label: 'Success gap of oracle readers (percentage points)', include: [0] },
      series: [{ name: 'mean over tasks, 95% interval', mark: 'point', data: all.map(valueDatum) }],
    },
  }
}

function valueDatum({ value: { mean, low, high } }: Measures): Datum | null {
  if (mean === null) return null
  const interval = low === null || high === null ? {} : { low: 100 * low, high: 100 * high }
  return { value: 100 * mean, text: pointsText(mean), ...interval }
}
