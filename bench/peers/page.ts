import { type Spread, spread } from '../statistics.js'
import { type Row, verdict } from './gates.js'

/** What a run was made with and how the machine was. */
export interface Circumstances {
  date: string
  commit: string
  processor: string
  memoryGiB: number
  system: string
  node: string
  engine: string
  threads: number
  versions: Record<string, unknown>
  minutes: number
  /** Processes that wanted to run, over the minute before the start and the end. */
  load: readonly [number, number]
  peaks: readonly number[]
  bandwidths: readonly number[]
}

const number = (x: number) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2))
const range = ({ low, high }: Spread) => (low === high ? '' : `${number(low)} .. ${number(high)}`)
const words = { goal: 'goal', gate: 'gate', missed: 'missed' } as const

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function gateRows(rows: readonly Row[]): string[] {
  return rows.map((row) => {
    const { gate } = row
    const sign = gate!.kind === 'least' ? '>=' : '<='
    return line([
      row.id!,
      row.what,
      row.shape,
      `**${number(row.value.median)}**`,
      range(row.value),
      String(row.rounds),
      row.byCpu === undefined ? '' : number(row.byCpu),
      `${sign} ${number(gate!.gate)}`,
      gate!.goal === undefined ? '' : `${sign} ${number(gate!.goal)}`,
      words[verdict(gate!, row.value.median)],
      row.why ?? '',
    ])
  })
}

function otherRows(rows: readonly Row[]): string[] {
  return rows.map((row) =>
    line([
      row.what,
      row.shape,
      `**${number(row.value.median)}**`,
      range(row.value),
      String(row.rounds),
      row.byCpu === undefined ? '' : number(row.byCpu),
    ]),
  )
}

/** How the machine was: rates that a quiet one holds steady. */
function machine(c: Circumstances): string[] {
  const rate = (samples: readonly number[], unit: string) => {
    const { median, low, high } = spread(samples)
    return `${median.toFixed(0)} ${unit} (middle half ${low.toFixed(0)} .. ${high.toFixed(0)})`
  }
  const lines = [
    `- ${c.processor}, ${c.memoryGiB} GiB, ${c.system}; ${c.threads} threads for everyone`,
    `- skillgate at commit ${c.commit}, ${c.engine}; Node ${c.node}`,
    `- ${Object.entries(c.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `- load average ${c.load[0].toFixed(1)} at the start, ${c.load[1].toFixed(1)} at the end; the run took ${c.minutes.toFixed(0)} minutes`,
  ]
  if (c.peaks.length > 0) lines.push(`- peak rate of fused multiply-adds: ${rate(c.peaks, 'GFLOP/s')}`)
  if (c.bandwidths.length > 0) lines.push(`- reading memory: ${rate(c.bandwidths, 'GB/s')}`)
  return lines
}

/** docs/performance.md: what one run of `npm run bench:peers` measured. */
export function page(rows: readonly Row[], c: Circumstances): string {
  const order = (row: Row) => row.id!
  const judged = rows.filter((row) => row.gate).sort((a, b) => order(a).localeCompare(order(b)))
  const others = rows.filter((row) => !row.gate)
  const out = [
    '# Performance of the CPU engine',
    '',
    `Written by \`npm run bench:peers\` on ${c.date}. Nothing here is edited by hand; [bench/README.md](../bench/README.md) says how it is measured.`,
    '',
    ...machine(c),
    '',
    `Times of a shared machine mean little, so every figure is a ratio of two times of the same round. Each contender runs once a round; a figure is the median over the rounds, with the middle half of them beside it. "by CPU" is the same ratio of processor time. Contenders are checked for the same loss and gradients before they are timed.`,
    '',
    '## Limits and goals',
    '',
    line([
      'id',
      'ratio',
      'shape',
      'median',
      'middle half',
      'rounds',
      'by CPU',
      'gate',
      'goal',
      'reached',
      'figures',
    ]),
    line(['---', '---', '---', '---:', '---:', '---:', '---:', '---:', '---:', '---', '---']),
    ...gateRows(judged),
  ]
  if (others.length > 0) {
    out.push(
      '',
      '## Others, over ours',
      '',
      'Time of the other over ours at the same rows or tokens: above 1 ours is faster.',
      '',
      line(['ratio', 'shape', 'median', 'middle half', 'rounds', 'by CPU']),
      line(['---', '---', '---:', '---:', '---:', '---:']),
      ...otherRows(others),
    )
  }
  return `${out.join('\n')}\n`
}
