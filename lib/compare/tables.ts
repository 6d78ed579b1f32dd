import { interval, percent } from '../report/format.js'
import { table } from '../report/table.js'
import type { Difference, Summary, VariantSummary } from './summary.js'
import { type FigureName, figureMeanings, figureNames, figureTitles, isShare } from './trial-figures.js'

const absent = '-'

/** `58.3% [51.2, 65.4]`; without an interval where there was one run. */
function meanText(variant: VariantSummary, name: FigureName): string {
  const mean = variant.figures[name]
  if (!mean) return absent
  const { value, low, high } = mean
  if (low === undefined || high === undefined) return isShare(name) ? percent(value) : value.toFixed(2)
  return interval({ value, low, high }, isShare(name) ? 'percent' : 'number')
}

/** `+12.5 [8.1, 17.0] 5/5`: the difference, its interval, and in how many seeds it has the same sign. */
function differenceText(difference: Difference | undefined, name: FigureName): string {
  if (!difference) return absent
  const { value, seeds, higher, lower } = difference
  const text = interval(difference, isShare(name) ? 'points' : 'number')
  return `${isShare(name) || value <= 0 ? text : `+${text}`}, ${value < 0 ? lower : higher}/${seeds}`
}

const seedsText = ({ seeds, planned }: VariantSummary) =>
  seeds.length === planned ? String(planned) : `${seeds.length} of ${planned}`

/** Titles and rows of a summary's two tables. */
export interface SummaryTable {
  caption: string
  titles: string[]
  rows: string[][]
}

export function figuresTable({ variants }: Summary): SummaryTable {
  return {
    caption: 'Held-out tasks after training: mean over seeds [95% t interval over seeds]',
    titles: ['method', 'seeds', ...figureNames.map((name) => figureTitles[name])],
    rows: variants.map((variant) => [
      variant.variant,
      seedsText(variant),
      ...figureNames.map((name) => meanText(variant, name)),
    ]),
  }
}

/** Undefined where nothing can be compared with the baseline. */
export function differencesTable({ variants, baseline }: Summary): SummaryTable | undefined {
  const compared = variants.filter(({ differences }) => differences && Object.keys(differences).length > 0)
  if (compared.length === 0) return undefined
  return {
    caption:
      `Difference from ${baseline}, same seeds and tasks: points (reads: number) [95% bootstrap interval over tasks], ` +
      'seeds that agree in sign',
    titles: ['method', ...figureNames.map((name) => figureTitles[name])],
    rows: compared.map(({ variant, differences }) => [
      variant,
      ...figureNames.map((name) => differenceText(differences![name], name)),
    ]),
  }
}

/** Every run by itself, so that runs that disagree are seen. */
export function runsTable({ variants }: Summary): SummaryTable {
  const rows = variants.flatMap(({ variant, seeds, values }) =>
    seeds.map((seed, i) => [
      variant,
      String(seed),
      ...figureNames.map((name) => {
        const value = values[name][i]!
        return value === null ? absent : isShare(name) ? percent(value) : value.toFixed(2)
      }),
    ]),
  )
  return {
    caption: 'Every run',
    titles: ['method', 'seed', ...figureNames.map((name) => figureTitles[name])],
    rows,
  }
}

export function textTable({ caption, titles, rows }: SummaryTable): string {
  return `${caption}\n\n${table(
    titles.map((title) => ({ title })),
    rows,
  )}`
}

export function markdownTable({ titles, rows }: SummaryTable): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const rule = `|${titles.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`
  return [line(titles), rule, ...rows.map(line)].join('\n')
}

const meanings = () => figureNames.map((name) => `${figureTitles[name]}: ${figureMeanings[name]}`).join('; ')

/** What was measured and how, in one sentence each. */
export function summaryNotes(summary: Summary): string[] {
  const failed = summary.variants.reduce((sum, one) => sum + one.failed, 0)
  return [
    `${meanings()}.`,
    'The t interval is over seeds: what another training run would give. The bootstrap resamples tasks, each with all its trials of ' +
      'both methods: what other tasks would give.',
    ...(failed > 0 ? [`${failed} trials failed and count as no success.`] : []),
  ]
}

/** The whole summary for a terminal. */
export function summaryText(summary: Summary): string {
  const differences = differencesTable(summary)
  const tables = [figuresTable(summary), ...(differences ? [differences] : [])]
  return [...tables.map(textTable), summaryNotes(summary).join('\n')].join('\n\n')
}

/** The whole summary as a Markdown page, with its figures where they are. */
export function summaryMarkdown(
  summary: Summary,
  title: string,
  figures: readonly { file: string; alt: string }[],
): string {
  const differences = differencesTable(summary)
  const tables = [figuresTable(summary), ...(differences ? [differences] : []), runsTable(summary)]
  return [
    `# ${title}`,
    ...tables.map((one) => `${one.caption}.\n\n${markdownTable(one)}`),
    summaryNotes(summary).join('\n\n'),
    ...figures.map(({ file, alt }) => `![${alt}](${file})`),
    '',
  ].join('\n\n')
}
