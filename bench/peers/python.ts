import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../lib/addon/package-root.js'
import { SkillgateError } from '../../lib/errors.js'
import { Worker } from '../worker.js'

const run = promisify(execFile)
const folder = () => join(packageRoot(), 'bench', 'peers')

/**
 * The interpreter with the contenders' packages: the one given, or a virtual environment in bench/peers/.venv that is
 * made, with the versions of requirements.txt, where there is none.
 */
export async function peersPython(given: string, show: (text: string) => void): Promise<string> {
  if (given !== '') return given
  const venv = join(folder(), '.venv')
  const complete = join(venv, 'complete')
  const python = join(venv, 'bin', 'python')
  if (existsSync(complete)) return python
  const wanted = join(folder(), 'requirements.txt')
  try {
    rmSync(venv, { recursive: true, force: true })
    show('making a virtual environment in bench/peers/.venv')
    await run('python3', ['-m', 'venv', venv])
    show('installing PyTorch, transformers and TRL there: minutes, gigabytes')
    await run(python, ['-m', 'pip', 'install', '--quiet', '-r', wanted], { maxBuffer: 1 << 26 })
    await run(python, ['-c', `open(${JSON.stringify(complete)}, "w").close()`])
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string }
    throw new SkillgateError(
      'ERR_BENCH',
      `cannot make bench/peers/.venv (or name an interpreter with --python): ${stderr.trim().slice(-2000) || message}`,
    )
  }
  return python
}

/** One process of contenders; those in it share its pool of threads. */
export class PeerProcess {
  private constructor(readonly worker: Worker) {}

  static async start(python: string, threads: number): Promise<PeerProcess> {
    const worker = new Worker('bench/peers/worker.py', python, [join(folder(), 'worker.py')], {
      OPENBLAS_NUM_THREADS: String(threads),
      OMP_NUM_THREADS: String(threads),
      MKL_NUM_THREADS: String(threads),
      HF_HUB_OFFLINE: '1',
      TOKENIZERS_PARALLELISM: 'false',
    })
    await worker.ask({ do: 'open', threads })
    return new PeerProcess(worker)
  }

  versions(): Promise<Record<string, unknown>> {
    return this.worker.ask({ do: 'versions' })
  }

  close(): Promise<void> {
    return this.worker.close()
  }
}
