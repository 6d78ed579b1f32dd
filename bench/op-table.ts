import { table } from '../lib/report/table.js'
import type { Measured } from './measure-ops.js'

const units: readonly [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'us'],
  [1, 'ns'],
]

/** Three digits: "1.23 ms". */
export function duration(ns: number): string {
  const [size, unit] = units.find(([at]) => ns >= at) ?? units.at(-1)!
  return `${(ns / size).toPrecision(3)} ${unit}`
}

const giga = (x: number | undefined) => (x === undefined ? '' : (x / 1e9).toFixed(1))
const share = (x: number | undefined) => (x === undefined ? '' : `${(100 * x).toFixed(0)}%`)
const mega = (x: number | undefined) => (x === undefined ? '' : (x / 1e6).toFixed(2))

/** The table of `npm run bench`, with what its columns mean below. */
export function measuredTable(report: { engine: string; cases: readonly Measured[] }): string {
  const rows = report.cases.map((c) => [
    c.op,
    c.shape,
    duration(c.time.median * 1e6),
    `${duration(c.time.low * 1e6)} .. ${duration(c.time.high * 1e6)}`,
    giga(c.flops),
    share(c.peakShare),
    mega(c.bytes),
    share(c.bandwidthShare),
  ])
  const columns = [
    { title: 'op' },
    { title: 'shape', align: 'left' as const },
    { title: 'median' },
    { title: 'middle half' },
    { title: 'GFLOP/s' },
    { title: 'of peak' },
    { title: 'MB' },
    { title: 'of bandwidth' },
  ]
  return [
    `cpu: ${report.engine}`,
    '',
    table(columns, rows),
    '',
    'GFLOP/s: useful operations. of peak: over the rate of fused multiply-adds from registers; MB: inputs once, outputs once;',
    'of bandwidth: over that of reading 512 MiB. Both limits are measured right before each round. Above 100%: data in a cache.',
  ].join('\n')
}
