/** Trains every method on skill-lab and writes docs/reproduction.md from what came out: `npm run reproduce`. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { outliveReaders } from '../dist/lib/cli/closed-output.js'
import { exitCodes } from '../dist/lib/cli/command.js'
import { stopOnInterrupt } from '../dist/lib/cli/interrupt.js'
import { errorText } from '../dist/lib/cli/main.js'
import { SkillgateError } from '../dist/lib/errors.js'
import { Progress } from '../dist/lib/report/progress.js'
import { styleFor } from '../dist/lib/report/style.js'
import { writeExtraPage } from './reproduce/extra-page.mjs'
import { writePage } from './reproduce/page.mjs'
import { extras, ownSettings, parts, quickParts } from './reproduce/plan.mjs'
import { playSettings } from './reproduce/play.mjs'
import { noteSession } from './reproduce/sessions.mjs'
import { measureWhere } from './reproduce/where.mjs'

const help = `npm run build && npm run reproduce -- [options]
Trains every method on skill-lab, then the experiments, and writes a page from what came out. Ctrl-C saves; the same command goes on.
  --quick            two methods, two seeds, a page in the folder of the runs
  --only <a,b>       some parts: ${Object.keys(parts).join(', ')}; or settings: horizon/4
  --seeds <number>   only the first so many seeds of each setting: the page says how many there are
  --extra <name>     an experiment beyond the plan, on a page of its own: ${Object.keys(extras).join(', ')}
  --page             no run: the page from the results that are there
  --runs <folder>    where the runs are (runs/reproduce)
  --docs <folder>    where the page goes (docs)
  --jobs <number>    runs at the same time, one thread each (2)`

outliveReaders()
const progress = new Progress(process.stdout)
const style = styleFor(process.stdout, process.env.NO_COLOR)
const { signal, release } = stopOnInterrupt(() =>
  progress.line(style.yellow('stopping: saving the last completed steps (once more: at once)')),
)

const text = { type: 'string' }
const flag = { type: 'boolean' }
const options = {
  ...{ quick: flag, page: flag, help: flag },
  ...{ only: text, extra: text, seeds: text, runs: text, docs: text, jobs: { ...text, default: '2' } },
}

function readOptions() {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    throw new SkillgateError('ERR_CONFIG', `${error.message}\n--help lists the options`)
  }
}

async function main() {
  const values = readOptions()
  if (values.help) {
    progress.line(help)
    return exitCodes.fine
  }
  const root = values.runs ?? join('runs', 'reproduce')
  const docs = resolve(values.docs ?? (values.quick ? join(root, 'quick') : 'docs'))
  const shown = shownParts(values)
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1)
    throw new SkillgateError('ERR_CONFIG', `expected --jobs of at least 1, got ${values.jobs}`)
  let whole = true
  if (!values.page) {
    mkdirSync(root, { recursive: true })
    const endSession = noteSession(root)
    try {
      const surroundings = { progress, style, signal, argv: [] }
      whole = await playSettings(selected(shown, values), { root, jobs, threads: 1 }, surroundings)
      if (whole && !values.quick) {
        const settings = values.extra ? ownSettings(shown) : shown.main.settings
        whole = await measureWhere(root, settings, { threads: jobs, ...surroundings })
      }
    } finally {
      endSession()
    }
  }
  const { extra } = values
  const page = extra
    ? await writeExtraPage(extra, shown[extra], { root, docs })
    : await writePage(shown, { root, docs })
  progress.line(`written: ${page}`)
  if (!whole) progress.line('stopped; the same command goes on')
  return whole ? exitCodes.fine : exitCodes.interrupted
}

/** The parts that this is about, by name. */
function shownParts({ quick, extra }) {
  if (extra === undefined) return quick ? quickParts : parts
  if (!Object.hasOwn(extras, extra) || quick) {
    const got = quick ? 'it beside --quick' : extra
    throw new SkillgateError(
      'ERR_CONFIG',
      `expected --extra with one of ${Object.keys(extras).join(', ')}, and no --quick, got ${got}`,
    )
  }
  return { [extra]: extras[extra] }
}

/** The settings to play now: of some parts, or by their folders, with some of their seeds. */
function selected(shown, { only, seeds }) {
  const names = only?.split(',')
  const settings = ownSettings(shown).filter(
    ({ part, folder }) => !names || names.includes(part) || names.includes(folder),
  )
  const unknown = names?.filter(
    (name) => !settings.some(({ part, folder }) => name === part || name === folder),
  )
  if (unknown?.length > 0) {
    const known = Object.keys(shown).join(', ')
    throw new SkillgateError(
      'ERR_CONFIG',
      `expected --only with names among ${known}, or of their settings, got ${unknown.join(', ')}`,
    )
  }
  const placeOf = ({ part, folder }) => names?.findIndex((name) => name === part || name === folder) ?? 0
  settings.sort((a, b) => placeOf(a) - placeOf(b))
  const count = Number(seeds ?? Number.POSITIVE_INFINITY)
  if (!(count >= 1)) throw new SkillgateError('ERR_CONFIG', `expected --seeds of at least 1, got ${seeds}`)
  return settings.map((setting) => ({ ...setting, seeds: setting.seeds.slice(0, count) }))
}

try {
  process.exitCode = await main()
} catch (error) {
  progress.line(style.red(errorText(error)))
  process.exitCode = error.code === 'ERR_CONFIG' ? exitCodes.usage : exitCodes.failed
} finally {
  release()
}
