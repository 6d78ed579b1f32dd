/**
 * Where differences between trained policies hold: on new tasks in the phrasings that were trained on, and on the held-out ones, whose
 * phrasings are others. Both are sampled as in training, without the cut of top-p, so that nothing but the tasks differs.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { diskFiles, writeWhole } from '../../dist/lib/checkpoint/files.js'
import { readRunRecord } from '../../dist/lib/compare/run-record.js'
import { standardLab } from '../../dist/lib/compare/run-spec.js'
import { meanOverSeeds } from '../../dist/lib/compare/student-t.js'
import { evaluate, skillLab } from '../../dist/lib/index.js'
import { runFolder } from './specs.mjs'
import { meanText } from './training-means.mjs'

const baseline = 'grpo'
const measured = [baseline, 'skillgate', 'skillgate-once']
const file = 'where.json'
const [tasksOfEach, trials] = [192, 2]
/** A seed of the environment that no run has: other draws of phrasing, file and slate. */
const freshSeed = standardLab.seed + 1
const figures = {
  success: 'success (%)',
  oracleRead: 'oracle read (%)',
  misleadingRead: 'misleading read (%)',
}
const places = { fresh: 'new tasks, phrasings of the training', heldOut: 'held-out phrasings and files' }

export const whereTitles = ['tasks', 'method', 'seeds', ...Object.values(figures)]

export const whereNote =
  `The last policies of these methods on ${tasksOfEach} tasks of each kind, ${trials} trials of each, sampled at temperature 1 without top-p: mean ` +
  `over seeds [95% t interval over seeds]; then the method minus ${baseline}, seed by seed, in points.`

/**
 * Evaluates the finished runs of these methods that have not been, and leaves what came out in their folders.
 * @returns {Promise<boolean>} whether all are evaluated; not where the signal came
 */
export async function measureWhere(root, settings, { threads, progress, signal }) {
  const runs = settings
    .flatMap((setting) =>
      measured
        .filter((name) => setting.methods.includes(name))
        .flatMap((name) =>
          setting.seeds.map((seed) => ({
            ...{ seed, title: `${setting.folder} ${name}, seed ${seed}` },
            folder: runFolder(root, setting, name, seed),
          })),
        ),
    )
    .filter(({ folder }) => readRunRecord(folder) && !existsSync(join(folder, file)))
  if (runs.length === 0) return true
  const labs = [await skillLab({ ...standardLab, seed: freshSeed }), await skillLab(standardLab)]
  const tasks = {
    fresh: labs[0].trainTasks.slice(0, tasksOfEach),
    heldOut: labs[1].heldOutTasks.slice(0, tasksOfEach),
  }
  const { skills, agent, defaults } = labs[1]
  const { tasks: _, ...options } = defaults.eval
  for (const { title, seed, folder } of runs) {
    const checkpoints = join(folder, 'checkpoints')
    const model = join(checkpoints, readdirSync(checkpoints).sort().at(-1), 'model')
    const sampling = { ...options, topP: 1, temperature: 1, trials, seed, threads, signal, onEvent: () => {} }
    const found = {}
    for (const place of Object.keys(places)) {
      progress.live(`${title}: ${places[place]}`)
      try {
        const { estimates } = await evaluate({ model, skills, agent, tasks: tasks[place], ...sampling })
        found[place] = Object.fromEntries(
          Object.keys(figures).map((figure) => [figure, estimates[figure].value]),
        )
      } catch (error) {
        if (signal.aborted) return false
        throw error
      }
    }
    await writeWhole(diskFiles, folder, file, `${JSON.stringify(found, null, 1)}\n`)
  }
  return true
}

/** Rows of the table: of each kind of tasks the baseline, then each method with its difference, over the seeds that both have. */
export function whereRows(variants) {
  const found = variants.map(({ variant, folders }) => ({ name: variant, runs: folders.flatMap(read) }))
  const base = found.find(({ name }) => name === baseline)?.runs ?? []
  const others = found
    .filter(({ name }) => name !== baseline)
    .map(({ name, runs }) => ({
      name,
      pairs: runs.flatMap((run) => base.filter(({ seed }) => seed === run.seed).map((from) => [from, run])),
    }))
    .filter(({ pairs }) => pairs.length > 0)
  if (others.length === 0) return []
  const row = (title, name, runs, of, kind) => [
    ...[title, name, String(runs.length)],
    ...Object.keys(figures).map((figure) =>
      meanText(meanOverSeeds(runs.map((run) => of(run, figure))), kind),
    ),
  ]
  return Object.entries(places).flatMap(([place, title]) => [
    row(title, baseline, base, (run, figure) => run[place][figure], 'plain'),
    ...others.flatMap(({ name, pairs }) => [
      row(title, name, pairs, ([, run], figure) => run[place][figure], 'plain'),
      row(
        ...[title, `${name} - ${baseline}`, pairs],
        ([from, run], figure) => run[place][figure] - from[place][figure],
        'signed',
      ),
    ]),
  ])
}

function read(folder) {
  const path = join(folder, file)
  const record = readRunRecord(folder)
  return record && existsSync(path) ? [{ seed: record.seed, ...JSON.parse(readFileSync(path, 'utf8')) }] : []
}
