import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { categoryChart } from '../report/figures/category-chart.js'
import { lineChart } from '../report/figures/line-chart.js'
import { stackChart } from '../report/figures/stack-chart.js'
import type { Svg } from '../report/figures/svg.js'
import { figureBars, learningCurve, readsStack } from './charts.js'
import { curveFigures } from './curves.js'
import { readCurve, readRunRecord } from './run-record.js'
import { type Summary, summarise } from './summary.js'
import { summaryMarkdown, summaryText } from './tables.js'
import { figureNames } from './trial-figures.js'

/** The folders of a variant's runs, finished or not, by ascending seed. */
export interface VariantFolders {
  variant: string
  folders: readonly string[]
}

/** What the finished runs in some folders come to. */
export function summaryOfFolders(variants: readonly VariantFolders[], baseline: string): Summary {
  return summarise(
    variants.map(({ variant, folders }) => ({
      variant,
      planned: folders.length,
      runs: folders.flatMap((folder) => readRunRecord(folder) ?? []),
    })),
    baseline,
  )
}

export interface Picture {
  file: string
  svg: Svg
  /** What it shows, in words. */
  alt: string
}

/** Curves that a figure holds and can be told apart. */
const curvesTogether = 5

/** Curves in groups small enough for a figure; where there are several, each has the baseline in it. */
export function curveGroups<C extends { variant: string }>(curves: readonly C[], baseline: string): C[][] {
  if (curves.length <= curvesTogether) return curves.length === 0 ? [] : [[...curves]]
  const base = curves.filter(({ variant }) => variant === baseline)
  const others = curves.filter(({ variant }) => variant !== baseline)
  const count = Math.ceil(others.length / (curvesTogether - base.length))
  const size = Math.ceil(others.length / count)
  return Array.from({ length: count }, (_, i) => [...base, ...others.slice(i * size, (i + 1) * size)])
}

/** Learning curves, bars of each figure and what was read, as SVG; file names begin with `prefix`. */
export function comparisonPictures(
  variants: readonly VariantFolders[],
  summary: Summary,
  prefix = '',
): Picture[] {
  const curves = variants
    .map(({ variant, folders }) => ({
      variant,
      runs: folders
        .filter((folder) => readRunRecord(folder))
        .map((folder) => readCurve(folder).steps)
        .filter((steps) => steps.some(({ reward }) => reward !== undefined)),
    }))
    .filter(({ runs }) => runs.length > 0)
  const picture = (chart: { id: string; title: string; description: string }, svg: Svg): Picture => ({
    file: `${prefix}${chart.id}.svg`,
    svg,
    alt: `${chart.title}. ${chart.description}`,
  })
  const pictures: Picture[] = []
  for (const figure of curveFigures)
    for (const [place, some] of curveGroups(curves, summary.baseline).entries()) {
      const chart = learningCurve(some, figure)
      if (chart.series.length === 0) continue
      const id = place === 0 ? chart.id : `${chart.id}-${place + 1}`
      pictures.push(picture({ ...chart, id }, lineChart({ ...chart, id })))
    }
  for (const name of figureNames) {
    const chart = figureBars(summary, name)
    pictures.push(picture(chart, categoryChart(chart)))
  }
  const reads = readsStack(summary)
  return [...pictures, picture(reads, stackChart(reads))]
}

/** Writes `comparison.json`, `.md` and `.txt` and the figures into a folder; returns what the text file holds. */
export async function writeSummary(
  output: string,
  variants: readonly VariantFolders[],
  baseline: string,
): Promise<string> {
  const summary = summaryOfFolders(variants, baseline)
  const text = summaryText(summary)
  const pictures = summary.variants.some(({ seeds }) => seeds.length > 0)
    ? comparisonPictures(variants, summary)
    : []
  const figures = join(output, 'figures')
  mkdirSync(figures, { recursive: true })
  for (const { file, svg } of pictures) await writeWhole(diskFiles, figures, file, `${svg}\n`)
  const links = pictures.map(({ file, alt }) => ({ file: `figures/${file}`, alt }))
  await writeWhole(diskFiles, output, 'comparison.json', `${JSON.stringify(summary, null, 1)}\n`)
  await writeWhole(diskFiles, output, 'comparison.txt', `${text}\n`)
  await writeWhole(
    diskFiles,
    output,
    'comparison.md',
    summaryMarkdown(summary, 'Comparison of methods', links),
  )
  return text
}
