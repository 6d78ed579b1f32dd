/** What the rollouts of the training came to: the area under the learning curves, compared with grpo seed by seed. */
import { curveFigures } from '../../dist/lib/compare/curves.js'
import { readCurve, readRunRecord } from '../../dist/lib/compare/run-record.js'
import { meanOverSeeds } from '../../dist/lib/compare/student-t.js'
import { told } from './verdicts.mjs'

const baseline = 'grpo'
const names = { reward: 'reward', oracleRead: 'oracle reads', misleadingRead: 'misleading reads' }
/** Of which methods a difference was expected, and with which sign. */
const expected = ['skillgate', 'skillgate-once']
const signs = { reward: 1, oracleRead: 1, misleadingRead: -1 }

export const trainingTitles = [
  'steps',
  ...curveFigures.flatMap((figure) => [`${names[figure]} (%)`, `from ${baseline} (points)`]),
]

export const trainingNote =
  'All rollouts of the training, sampled at temperature 1 on training tasks, the groups that are dropped too: the mean over the steps of a run, ' +
  `then over seeds [95% t interval over seeds]; beside it the difference from ${baseline}, seed by seed, of the methods that have as many steps.`

/** The rows of the table, and a line for each thing that was expected; empty where nothing was trained by steps. */
export function trainingMeans(variants) {
  const found = variants.map(({ variant, folders }) => ({ variant, runs: runsOf(folders) }))
  const base = found.find(({ variant }) => variant === baseline)?.runs ?? []
  const rows = found
    .filter(({ runs }) => runs.some(({ reward }) => reward !== undefined))
    .map(({ variant, runs }) => [
      variant,
      Array.from(new Set(runs.map(({ steps }) => steps))).join('; '),
      ...curveFigures.flatMap((figure) => [
        meanText(meanOverSeeds(valuesOf(runs, figure)), 'plain'),
        variant === baseline ? '-' : meanText(difference(runs, base, figure), 'signed'),
      ]),
    ])
  const claimed = found.filter(({ variant }) => expected.includes(variant))
  const claims = claimed.flatMap((one) => curveFigures.map((figure) => ({ ...one, figure })))
  const lines = claims.flatMap(({ variant, runs, figure }) => {
    const gap = difference(runs, base, figure)
    if (gap?.low === undefined) return []
    const [direction, those] = [signs[figure] > 0 ? 'above' : 'below', figure === 'reward' ? 'that' : 'those']
    return `- while training, ${names[figure]} of ${variant} ${direction} ${those} of ${baseline}: ${meanText(gap, 'signed')} points; over seeds **${told(gap, signs[figure])}** (${gap.runs} seeds)`
  })
  return { rows, lines }
}

function runsOf(folders) {
  return folders.flatMap((folder) => {
    const record = readRunRecord(folder)
    const { steps } = record ? readCurve(folder) : { steps: [] }
    if (steps.length === 0) return []
    const means = curveFigures.map((figure) => {
      const known = steps.map((step) => step[figure]).filter((value) => value !== undefined)
      return [
        figure,
        known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0) / known.length,
      ]
    })
    return [{ seed: record.seed, steps: steps.length, ...Object.fromEntries(means) }]
  })
}

const valuesOf = (runs, figure) => runs.map((run) => run[figure]).filter((value) => value !== undefined)

/** Of the seeds that both have. */
function difference(runs, base, figure) {
  const gaps = runs.flatMap((run) => {
    const other = base.find(({ seed, steps }) => seed === run.seed && steps === run.steps)
    return run[figure] === undefined || other?.[figure] === undefined ? [] : [run[figure] - other[figure]]
  })
  return meanOverSeeds(gaps)
}

/** A mean over seeds in percent or points, without the unit. */
export function meanText(mean, kind) {
  if (!mean) return '-'
  const { value, low, high } = mean
  const sign = kind === 'signed' && value > 0 ? '+' : ''
  const middle = sign + (100 * value).toFixed(1)
  return low === undefined ? middle : `${middle} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`
}
