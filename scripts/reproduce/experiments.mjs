/** One part of the page: an experiment's figures and tables. */
import { learningCurve } from '../../dist/lib/compare/charts.js'
import { experimentChart } from '../../dist/lib/compare/experiment-chart.js'
import { readCurve, readRunRecord } from '../../dist/lib/compare/run-record.js'
import { differencesTable, markdownTable, runsTable } from '../../dist/lib/compare/tables.js'
import { summaryOfFolders } from '../../dist/lib/compare/write-summary.js'
import { categoryChart } from '../../dist/lib/report/figures/category-chart.js'
import { lineChart } from '../../dist/lib/report/figures/line-chart.js'
import { percent } from '../../dist/lib/report/format.js'
import { auditOfRuns } from './audits.mjs'
import { courseCells, courseNote, courseTitles } from './course.mjs'
import { parts } from './plan.mjs'
import { commandOf, shownRoot, variantsOf } from './specs.mjs'

const shownFigures = ['success', 'oracleRead', 'misleadingRead']

/**
 * @returns {Promise<{ text: string, pictures: { file: string, svg: string }[], missing: string[] }>}
 */
export async function experimentSection(name, part, root) {
  const points = pointsOf(part, root)
  const missing = points.flatMap(({ label, summary }) =>
    summary.variants
      .filter(({ seeds, planned }) => seeds.length < planned)
      .map(
        ({ variant, seeds, planned }) => `${name} ${label}, ${variant}: ${seeds.length} of ${planned} runs`,
      ),
  )
  const done = points.filter(({ summary }) => summary.variants.some(({ seeds }) => seeds.length > 0))
  const own = part.settings.filter(({ borrowed }) => !borrowed)
  const lines = [`## ${part.title}`]
  if (part.note) lines.push(part.note)
  if (!done.some(({ borrowed }) => !borrowed))
    return { text: [...lines, 'Not run yet.'].join('\n\n'), pictures: [], missing }

  const chartPoints = done.map(({ label, summary }) => ({
    label,
    methods: Object.fromEntries(
      summary.variants.filter(({ seeds }) => seeds.length > 0).map((one) => [one.variant, one]),
    ),
  }))
  const pictures = shownFigures.map((figure) => {
    const chart = experimentChart(chartPoints, figure, {
      id: `${name}-${figure.toLowerCase()}`,
      title: part.title,
      xLabel: part.xLabel,
      ...referenceOf(part, root, figure),
    })
    return { file: `${chart.id}.svg`, alt: `${chart.title}. ${chart.description}`, svg: categoryChart(chart) }
  })
  pictures.push(...coursePictures(name, part, done))
  lines.push(pictures.map(({ file, alt }) => `![${alt}](figures/${file})`).join('\n'))
  lines.push(markdownTable(pointsTable(part.xLabel, done)))
  const gaps = done.flatMap(({ label, summary }) => {
    const table = differencesTable(summary)
    return table ? table.rows.map((row) => [label, ...row]) : []
  })
  if (gaps.length > 0) {
    const { titles, caption } = differencesTable(
      done.find(({ summary }) => differencesTable(summary)).summary,
    )
    lines.push(`${caption}.`, markdownTable({ titles: [part.xLabel, ...titles], rows: gaps }))
  }
  if (part.audited) lines.push(await auditText(part.xLabel, done))
  lines.push(
    courseNote,
    markdownTable({ titles: [part.xLabel, 'method', ...courseTitles], rows: await courseRows(done) }),
  )
  const runs = done.flatMap(({ label, summary }) => runsTable(summary).rows.map((row) => [label, ...row]))
  lines.push(
    details(
      'Every run',
      markdownTable({ titles: [part.xLabel, ...runsTable(done[0].summary).titles], rows: runs }),
    ),
  )
  lines.push(
    details(
      'Commands',
      `\`\`\`sh\n${own.map((setting) => commandOf(shownRoot, setting)).join('\n')}\n\`\`\``,
    ),
  )
  return { text: lines.join('\n\n'), pictures, missing }
}

/** The points of an experiment: what its settings with the same place in the figure have, together. */
export function pointsOf({ settings }, root) {
  return Array.from(new Set(settings.map(({ x }) => x)), (x) => {
    const here = settings.filter((setting) => setting.x === x)
    const variants = here.flatMap((setting) => variantsOf(root, setting))
    return {
      ...{ label: String(x), variants, borrowed: here.every(({ borrowed }) => borrowed) },
      summary: summaryOfFolders(variants, 'grpo'),
    }
  })
}

/** Where methods are compared: their misleading reads while training, at every point. */
function coursePictures(name, part, points) {
  const curves = points.flatMap(({ label, variants }) =>
    variants.flatMap(({ variant, folders }) => {
      const runs = folders.filter((folder) => readRunRecord(folder)).map((folder) => readCurve(folder).steps)
      return runs.length === 0 ? [] : [{ variant: `${variant}, ${label}`, method: variant, runs }]
    }),
  )
  if (new Set(curves.map(({ method }) => method)).size < 2) return []
  const chart = learningCurve(curves, 'misleadingRead')
  if (chart.series.length === 0) return []
  const own = {
    ...chart,
    id: `${name}-curve-misleadingread`,
    title: `${part.title}: misleading reads while training`,
  }
  return [{ file: `${own.id}.svg`, alt: `${own.title}. ${own.description}`, svg: lineChart(own) }]
}

async function courseRows(points) {
  const rows = []
  for (const { label, variants } of points)
    for (const { variant, folders } of variants) {
      const cells = await courseCells(folders)
      if (cells) rows.push([label, variant, ...cells])
    }
  return rows
}

function pointsTable(xLabel, points) {
  const rows = points.flatMap(({ label, summary }) =>
    summary.variants
      .filter(({ seeds }) => seeds.length > 0)
      .map(({ variant, seeds, figures }) => [
        ...[label, variant, String(seeds.length)],
        ...['success', 'oracleRead', 'misleadingRead'].map((figure) => percent(figures[figure]?.value)),
        figures.reads?.value.toFixed(2) ?? '-',
        percent(figures.cleanOracle?.value),
      ]),
  )
  return {
    titles: [
      xLabel,
      'method',
      'seeds',
      'success',
      'oracle read',
      'misleading read',
      'reads a trial',
      'clean oracle',
    ],
    rows,
  }
}

/** The same seeds of a method that the experiment does not touch. */
function referenceOf(part, root, figure) {
  if (!part.reference) return {}
  const [main] = parts.main.settings
  const seeds = part.settings.find(({ borrowed }) => !borrowed).seeds
  const [summary] = summaryOfFolders(
    variantsOf(root, { ...main, methods: [part.reference], seeds }),
    'grpo',
  ).variants
  const mean = summary.figures[figure]
  return mean ? { reference: { value: mean.value, text: `${part.reference}, main runs` } } : {}
}

/** The audit of each point's training, by method. */
async function auditText(xLabel, points) {
  const rows = []
  for (const { label, variants } of points)
    for (const { variant, folders } of variants) {
      const found = await auditOfRuns(folders)
      if (found) rows.push([label, variant, ...auditCells(found)])
    }
  return `The audit of what these runs trained on:\n\n${markdownTable({ titles: [xLabel, 'method', ...auditTitles], rows })}`
}

export const auditTitles = [
  'tokens a trajectory',
  'in read calls',
  'naming the skill',
  'oracle readers blamed',
  'advantage gap',
  'success gap (points)',
]

export const auditCells = ({ tokens, callShare, identityShare, blamed, gap, value }) => [
  tokens === null ? '-' : tokens.toFixed(0),
  percent(callShare ?? undefined),
  percent(identityShare ?? undefined),
  percent(blamed ?? undefined),
  gap === null ? '-' : gap.toFixed(2),
  value === null ? '-' : (100 * value).toFixed(1),
]

export const details = (title, body) => `<details><summary>${title}</summary>\n\n${body}\n\n</details>`
