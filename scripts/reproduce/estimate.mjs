/** How long the runs that are left will take. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRunRecord } from '../../dist/lib/compare/run-record.js'
import { startName } from './plan.mjs'
import { runFolder } from './specs.mjs'

/** Seconds of a run of the standard environment in one thread, with the other core as busy, before any is measured. */
const standardSeconds = 200
/** Seconds of teaching a start with two threads. */
const startSeconds = 80

/** What a run costs against one of the standard environment: longer executions and larger slates are more tokens, and so are more rollouts. */
function weight(setting, method) {
  if (method === 'sft') return 0.08
  // One turn a task, and no rollouts.
  if (method.startsWith('selection')) return 0.2
  const { horizon, slateSize } = setting.lab
  const { groupsPerStep = 8, groupSize = 8 } = setting.options
  return ((groupsPerStep * groupSize) / 64) * (1 + 0.55 * (horizon - 1) + (slateSize - 16) / 30)
}

/** Runs, those finished, and the seconds that the others and their starts will take with `jobs` at a time. */
export function estimate(settings, root, jobs) {
  const runs = settings.flatMap((setting) =>
    setting.methods.flatMap((method) =>
      setting.seeds.map((seed) => ({
        weight: weight(setting, method),
        record: readRunRecord(runFolder(root, setting, method, seed)),
      })),
    ),
  )
  const done = runs.filter(({ record }) => record && record.steps > 0)
  const spent = done.reduce((sum, { record: { seconds } }) => sum + seconds.training + seconds.evaluation, 0)
  const pace = done.length === 0 ? standardSeconds : spent / done.reduce((sum, run) => sum + run.weight, 0)
  const left = runs.filter(({ record }) => !record).reduce((sum, run) => sum + run.weight, 0)
  const starts = new Set(settings.flatMap((setting) => setting.seeds.map((seed) => startName(setting, seed))))
  const missing = [...starts].filter((name) => !existsSync(join(root, 'starts', name, 'sft', 'checkpoints')))
  return {
    runs: runs.length,
    finished: runs.filter(({ record }) => record).length,
    measured: done.length,
    seconds: (left * pace) / jobs + missing.length * startSeconds,
  }
}
