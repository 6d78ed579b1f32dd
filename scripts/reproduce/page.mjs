/** docs/reproduction.md and its figures, from whatever results there are. */
import { existsSync, mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { diskFiles, writeWhole } from '../../dist/lib/checkpoint/files.js'
import {
  differencesTable,
  figuresTable,
  markdownTable,
  runsTable,
  summaryNotes,
} from '../../dist/lib/compare/tables.js'
import { comparisonPictures, summaryOfFolders } from '../../dist/lib/compare/write-summary.js'
import { auditOfRuns } from './audits.mjs'
import { courseCells, courseNote, courseTitles } from './course.mjs'
import { auditCells, auditTitles, details, experimentSection } from './experiments.mjs'
import { sessionsText, settingsText, timesText } from './made-with.mjs'
import { commandOf, shownRoot, variantsOf } from './specs.mjs'
import { trainingMeans, trainingNote, trainingTitles } from './training-means.mjs'
import { verdicts } from './verdicts.mjs'
import { whereNote, whereRows, whereTitles } from './where.mjs'

/** Writes the page; returns its path. */
export async function writePage(shown, { root, docs }) {
  const figures = join(docs, 'figures')
  mkdirSync(figures, { recursive: true })
  const sections = []
  const missing = []
  const { main, ...experiments } = shown
  const first = await mainSection(main, root)
  const pictures = [...first.pictures]
  missing.push(...first.missing)
  for (const [name, part] of Object.entries(experiments)) {
    const section = await experimentSection(name, part, root)
    sections.push(section.text)
    missing.push(...section.missing)
    pictures.push(...section.pictures)
  }
  for (const { file, svg } of pictures) await writeWhole(diskFiles, figures, file, `${svg}\n`)
  const findings = existsSync(join(docs, 'findings.md')) ? ['What it means: [findings.md](findings.md).'] : []
  const text = [
    '# Reproduction on skill-lab',
    'This page is written by `npm run reproduce` from the results of its runs; no figure in it was typed by hand.',
    ...findings,
    missing.length === 0
      ? 'Every run of the plan is finished.'
      : `**Not all of the plan has been run.** Missing: ${missing.join('; ')}.`,
    first.text,
    ...sections,
    await settingsText(main.settings[0]),
    timesText(shown, root),
    sessionsText(root),
  ].join('\n\n')
  await writeWhole(diskFiles, docs, 'reproduction.md', `${text}\n`)
  return relative('.', join(docs, 'reproduction.md'))
}

async function mainSection(part, root) {
  const [setting] = part.settings
  const variants = variantsOf(root, setting)
  const summary = summaryOfFolders(variants, 'grpo')
  const missing = summary.variants
    .filter(({ seeds, planned }) => seeds.length < planned)
    .map(({ variant, seeds, planned }) => `${variant}: ${seeds.length} of ${planned} runs`)
  const shown = { ...summary, variants: summary.variants.filter(({ seeds }) => seeds.length > 0) }
  if (shown.variants.length === 0) return { text: `## ${part.title}\n\nNot run yet.`, pictures: [], missing }
  const pictures = comparisonPictures(variants, shown, 'main-')
  const differences = differencesTable(shown)
  const gaps = differences ? [`${differences.caption}.`, markdownTable(differences)] : []
  const audits = await auditRows(variants)
  const training = trainingMeans(variants)
  const where = whereRows(variants)
  const text = [
    `## ${part.title}`,
    `${figuresTable(shown).caption}.`,
    markdownTable(figuresTable(shown)),
    ...gaps,
    ...summaryNotes(shown),
    [verdicts(shown), ...training.lines].filter((line) => line !== '').join('\n'),
    '### While training',
    trainingNote,
    markdownTable({ titles: ['method', ...trainingTitles], rows: training.rows }),
    ...(where.length > 0
      ? ['### Where the difference holds', whereNote, markdownTable({ titles: whereTitles, rows: where })]
      : []),
    pictures.map(({ file, alt }) => `![${alt}](figures/${file})`).join('\n'),
    '### Where the credit went',
    'The audit (Share, Sign, Value) of what each method trained on, means over seeds: median tokens that a trajectory samples, and the ' +
      'share of them in read calls and naming the skill; how many readers of the right skill have a negative outcome advantage; in groups ' +
      'that have both kinds, the advantage and the success of those readers minus that of the rest.',
    markdownTable({ titles: ['method', ...auditTitles], rows: audits }),
    '### How the runs went',
    courseNote,
    markdownTable({ titles: ['method', ...courseTitles], rows: await courseRows(variants) }),
    '### Every run',
    markdownTable(runsTable(shown)),
    details('Command', `\`\`\`sh\n${commandOf(shownRoot, setting)}\n\`\`\``),
  ].join('\n\n')
  return { text, pictures, missing }
}

async function courseRows(variants) {
  const rows = []
  for (const { variant, folders } of variants) {
    const cells = await courseCells(folders)
    if (cells) rows.push([variant, ...cells])
  }
  return rows
}

async function auditRows(variants) {
  const rows = []
  for (const { variant, folders } of variants) {
    if (['sft', 'selection-bc', 'selection-dpo'].includes(variant)) continue
    const found = await auditOfRuns(folders)
    if (found) rows.push([variant, ...auditCells(found)])
  }
  return rows
}
