/** Makes the starts and plays the runs of settings. */
import { join } from 'node:path'
import { playAll } from '../../dist/lib/cli/compare.js'
import { makeStarts } from '../../dist/lib/cli/compare-start.js'
import { standardLab } from '../../dist/lib/compare/run-spec.js'
import { duration } from '../../dist/lib/report/format.js'
import { estimate } from './estimate.mjs'
import { startKind, startName } from './plan.mjs'
import { specsOf } from './specs.mjs'

/**
 * Plays every run of the settings that is not finished.
 * @returns {Promise<boolean>} whether all are finished
 */
export async function playSettings(settings, { root, jobs, threads }, surroundings) {
  const { progress, style, signal } = surroundings
  const { runs, finished, seconds, measured } = estimate(settings, root, jobs)
  const basis = measured > 0 ? `from ${measured} finished runs` : 'from runs on two idle cores with AVX-512'
  progress.line(
    style.bold(`${runs} runs in ${settings.length} settings, ${finished} of them finished, in ${root}`),
  )
  progress.line(
    `the rest takes about ${duration(seconds)} (${basis}). Ctrl-C saves; the same command goes on.`,
  )
  let whole = true
  for (const kind of new Set(settings.map(startKind))) {
    const sharing = settings.filter((setting) => startKind(setting) === kind)
    progress.line(`\n${style.bold(kind)}: ${sharing.map(({ folder }) => folder).join(', ')}`)
    const models = await startsOf(sharing, { root, jobs, threads }, surroundings)
    if (models === undefined) return false
    // All settings of a kind of start in one go, so that no core waits for the last run of each.
    const specs = await Promise.all(sharing.map((setting) => specsOf(root, setting, models, { threads })))
    whole = (await playAll(specs.flat(), jobs, surroundings)) && whole
    if (signal.aborted) return false
  }
  return whole
}

/** The starts that settings share, by seed. */
async function startsOf(settings, { root, jobs, threads }, surroundings) {
  const { horizon, slateSize } = settings[0].lab
  const seeds = [...new Set(settings.flatMap((setting) => setting.seeds))]
  const places = seeds.map((seed) => ({ folder: join(root, 'starts', startName(settings[0], seed)), seed }))
  const setting = { ...standardLab, horizon, slateSize }
  const models = await makeStarts({ setting, places, jobs, engine: { threads } }, surroundings)
  return models && new Map(seeds.map((seed, i) => [seed, models[i]]))
}
