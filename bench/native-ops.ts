import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../lib/addon/package-root.js'
import { SkillgateError } from '../lib/errors.js'
import { type Timing, Worker } from './worker.js'

/** An op at a shape, as bench/native reads it. */
export interface OpSpec {
  op: string
  [field: string]: number | string
}

export interface Prepared {
  name: string
  /** For people: "forward T 1024 N 576 K 576". */
  shape: string
  /** Useful floating point operations of one run. */
  flop: number
  /** Bytes that one run must move at least. */
  bytes: number
}

/** Compiles bench/native into `build-bench/native`: seconds where nothing has changed. Returns the program. */
export async function buildNativeOps(): Promise<string> {
  const root = packageRoot()
  const folder = join(root, 'build-bench', 'native')
  try {
    const args = ['-s', `-j${availableParallelism()}`, '-C', join(root, 'bench', 'native'), `BUILD=${folder}`]
    await promisify(execFile)('make', args, { maxBuffer: 1 << 26 })
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string }
    throw new SkillgateError(
      'ERR_BENCH',
      `cannot build bench/native: ${stderr.trim().slice(-2000) || message}`,
    )
  }
  return join(folder, 'skillgate_bench')
}

/** The ops of native/cpu, each timed in a process of its own. */
export class NativeOps {
  readonly #worker: Worker
  #prepared = 0

  private constructor(
    worker: Worker,
    readonly threads: number,
    /** "avx512, 2 threads" */
    readonly description: string,
  ) {
    this.#worker = worker
  }

  static async start(program: string, threads: number, instructionSet = ''): Promise<NativeOps> {
    const worker = new Worker('skillgate_bench', program, [])
    const opened = await worker.ask({ do: 'open', threads, instruction_set: instructionSet })
    return new NativeOps(worker, threads, String(opened.description))
  }

  async prepare(spec: OpSpec): Promise<Prepared> {
    const name = `${spec.op} ${++this.#prepared}`
    const { shape, flop, bytes } = await this.#worker.ask({ ...spec, do: 'prepare', name })
    return { name, shape: String(shape), flop: Number(flop), bytes: Number(bytes) }
  }

  run(prepared: Prepared, repeat = 1): Promise<Timing> {
    return this.#worker.run(prepared.name, repeat)
  }

  result(prepared: Prepared): Promise<Record<string, unknown>> {
    return this.#worker.ask({ do: 'result', name: prepared.name })
  }

  async drop(prepared: Prepared): Promise<void> {
    await this.#worker.ask({ do: 'drop', name: prepared.name })
  }

  close(): Promise<void> {
    return this.#worker.close()
  }
}
