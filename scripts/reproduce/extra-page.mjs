/** The page of an experiment beyond the plan. */
import { mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { diskFiles, writeWhole } from '../../dist/lib/checkpoint/files.js'
import { markdownTable } from '../../dist/lib/compare/tables.js'
import { readJsonLines } from '../../dist/lib/report/json-lines.js'
import { experimentSection, pointsOf } from './experiments.mjs'
import { sessionsText, timesText } from './made-with.mjs'
import { trainingMeans, trainingNote, trainingTitles } from './training-means.mjs'
import { verdictsOf } from './verdicts.mjs'
import { whereNote, whereRows, whereTitles } from './where.mjs'

/** Writes the page of an experiment; returns its path. */
export async function writeExtraPage(name, part, { root, docs }) {
  const figures = join(docs, 'figures')
  mkdirSync(figures, { recursive: true })
  const section = await experimentSection(name, part, root)
  for (const { file, svg } of section.pictures) await writeWhole(diskFiles, figures, file, `${svg}\n`)
  const points = pointsOf(part, root)
  const rowsOf = (rows) =>
    points.flatMap(({ label, variants }) => rows(variants).map((row) => [label, ...row]))
  const table = (titles, rows) => markdownTable({ titles: [part.xLabel, ...titles], rows: rowsOf(rows) })
  const text = [
    '# Beyond the plan',
    `This page is written by \`npm run reproduce -- --extra ${name}\` from the results of its runs; no figure in it was typed by hand. Settings are those of ` +
      '[reproduction.md](reproduction.md).',
    section.missing.length === 0
      ? 'Every run is finished.'
      : `**Not all of it has been run.** Missing: ${section.missing.join('; ')}.`,
    section.text,
    '## What was expected',
    ...points.map(({ label, summary }) =>
      [`${part.xLabel}: ${label}`, '', ...expectedOf(summary)].join('\n'),
    ),
    '## While training',
    trainingNote,
    table(['method', ...trainingTitles], (variants) => trainingMeans(variants).rows),
    'Groups of a step, means over steps and runs: those drawn and played, and those trained on.',
    table(['method', 'drawn', 'trained on'], groupRows),
    ...(rowsOf(whereRows).length > 0
      ? ['## Where the difference holds', whereNote, table(whereTitles, whereRows)]
      : []),
    timesText({ [name]: part }, root),
    sessionsText(root),
  ].join('\n\n')
  await writeWhole(diskFiles, docs, `${name}.md`, `${text}\n`)
  return relative('.', join(docs, `${name}.md`))
}

const expectedOf = ({ variants }) => variants.flatMap(({ variant }) => verdictsOf(variant, variants))

function groupRows(variants) {
  return variants.flatMap(({ variant, folders }) => {
    const steps = folders.flatMap((folder) =>
      readJsonLines(join(folder, 'metrics.jsonl')).filter(({ type }) => type === 'step'),
    )
    if (steps.length === 0) return []
    const mean = (of) => (steps.reduce((sum, step) => sum + of(step), 0) / steps.length).toFixed(1)
    return [[variant, mean(({ draws }) => draws), mean(({ credit }) => credit.groups)]]
  })
}
