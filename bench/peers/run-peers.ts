import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../lib/addon/package-root.js'
import { SkillgateError } from '../../lib/errors.js'
import { Machine } from '../measure-ops.js'
import { buildNativeOps, NativeOps } from '../native-ops.js'
import { experiments } from './experiments.js'
import type { Row } from './gates.js'
import type { Circumstances } from './page.js'
import { PeerProcess } from './python.js'
import type { Setting } from './setting.js'

export interface PeersOptions {
  python: string
  extent: 'quick' | 'usual' | 'all'
  /** Only experiments whose name contains this. */
  filter: string
  rounds: number
  /** That the run may take; the rounds become fewer on a slow machine, not less than five. */
  minutes: number
  threads: number
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: packageRoot(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  try {
    const changed =
      git('status', '--porcelain', '--', 'native', 'bench', ':!native/cuda') === '' ? '' : ' with changes'
    return git('rev-parse', '--short', 'HEAD') + changed
  } catch {
    return 'unknown'
  }
}

/** Runs the experiments one after the other. What fails in one is told by `failed`; the others go on. */
export async function runPeers(
  options: PeersOptions,
  show: (text: string) => void,
  failed: (text: string) => void,
): Promise<{ rows: Row[]; circumstances: Circumstances }> {
  const wanted = experiments(options.extent).filter(({ name }) => name.includes(options.filter))
  if (wanted.length === 0) throw new SkillgateError('ERR_BENCH', `no experiment contains "${options.filter}"`)
  const began = Date.now()
  const load = loadavg()[0]!
  show('building bench/native')
  const ops = await NativeOps.start(await buildNativeOps(), options.threads)
  const scratch = mkdtempSync(join(tmpdir(), 'skillgate-peers-'))
  const clear = () => rmSync(scratch, { recursive: true, force: true })
  process.once('exit', clear)
  const blas = await PeerProcess.start(options.python, options.threads)
  const torch = await PeerProcess.start(options.python, options.threads)
  const peaks: number[] = []
  const bandwidths: number[] = []
  const rows: Row[] = []
  try {
    const machine = await Machine.of(ops)
    for (const [i, experiment] of wanted.entries()) {
      const left = wanted.slice(i).reduce((sum, { minutes }) => sum + minutes, 0)
      const end = began + options.minutes * 60_000
      const deadline = Date.now() + ((end - Date.now()) * experiment.minutes) / left
      const minutes = () => ((Date.now() - began) / 60_000).toFixed(0)
      const setting: Setting = {
        ...{ ops, machine, blas, torch, scratch, peaks, bandwidths },
        rounds: options.rounds,
        deadline,
        threads: options.threads,
        show: (text) => show(`[${i + 1} of ${wanted.length}, ${minutes()} min] ${experiment.name}: ${text}`),
      }
      try {
        rows.push(...(await experiment.run(setting)))
      } catch (error) {
        if (!(error instanceof SkillgateError)) throw error
        failed(`${experiment.name}: ${error.message}`)
      }
    }
    const versions = { ...(await torch.versions()) }
    const circumstances: Circumstances = {
      date: new Date().toISOString().slice(0, 10),
      commit: commit(),
      processor: `${cpus()[0]?.model.trim()} (${cpus().length} cores)`,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${type()} ${release()}`,
      node: process.versions.node,
      engine: ops.description,
      threads: options.threads,
      versions,
      minutes: (Date.now() - began) / 60_000,
      load: [load, loadavg()[0]!],
      peaks,
      bandwidths,
    }
    return { rows, circumstances }
  } finally {
    await Promise.all([ops.close(), blas.close(), torch.close()])
    process.off('exit', clear)
    clear()
  }
}
