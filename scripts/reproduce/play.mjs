/** Makes the starts and plays the runs of settings. */
import { join } from 'node:path'
import { playAll } from '../../dist/lib/cli/compare.js'
import { makeStart } from '../../dist/lib/cli/compare-start.js'
import { standardLab } from '../../dist/lib/compare/run-spec.js'
import { printEvents } from '../../dist/lib/recipes/console.js'
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
  const basis = measured > 0 ? `from ${measured} finished runs` : 'from runs on two idle cores of an AMD EPYC'
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
    const models = new Map()
    for (const seed of new Set(sharing.flatMap(({ seeds }) => seeds))) {
      const model = await startOf(sharing[0], seed, root, jobs * threads, surroundings)
      if (model === undefined) return false
      models.set(seed, model)
    }
    // All settings of a kind of start in one go, so that no core waits for the last run of each.
    const specs = await Promise.all(sharing.map((setting) => specsOf(root, setting, models, { threads })))
    whole = (await playAll(specs.flat(), jobs, surroundings)) && whole
    if (signal.aborted) return false
  }
  return whole
}

/** A start is made by all cores, once for all settings that share it. */
async function startOf(setting, seed, root, threads, { progress, style, signal }) {
  const { horizon, slateSize } = setting.lab
  const onEvent = printEvents(progress, style)
  const folder = join(root, 'starts', startName(setting, seed))
  progress.line(style.dim(`the start of seed ${seed}`))
  return makeStart({
    ...{ folder, seed },
    setting: { ...standardLab, horizon, slateSize },
    engine: { threads },
    signal,
    onEvent,
  })
}
