import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { SkillgateError } from '../lib/errors.js'

/** Nanoseconds of one timed run: of the wall clock, and of all processor cores together. */
export interface Timing {
  ns: number
  cpuNs: number
}

interface Waiting {
  resolve(answer: Record<string, unknown>): void
  reject(error: Error): void
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A process that answers one JSON line with one JSON line; the answer `{"error": text}` is thrown as ERR_BENCH. */
export class Worker {
  readonly #name: string
  readonly #child: ChildProcess
  readonly #waiting: Waiting[] = []
  #errors = ''
  #ended: string | undefined

  constructor(name: string, command: string, args: readonly string[], env: Record<string, string> = {}) {
    this.#name = name
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    running.add(this.#child)
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#answer(line))
    this.#child.stderr!.on('data', (text) => {
      this.#errors = `${this.#errors}${text}`.slice(-2000)
    })
    this.#child.stdin!.on('error', () => {}) // its end is told by 'close'
    this.#child.on('error', (error) => this.#end(error.message))
    this.#child.on('close', (code, signal) => this.#end(`it ended with ${signal ?? `status ${code}`}`))
  }

  ask(request: Record<string, unknown>): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#failure(this.#ended))
      this.#waiting.push({ resolve, reject })
      this.#child.stdin!.write(`${JSON.stringify(request)}\n`)
    })
  }

  async run(name: string, repeat = 1): Promise<Timing> {
    const { ns, cpu_ns } = (await this.ask({ do: 'run', name, repeat })) as { ns: number; cpu_ns: number }
    return { ns, cpuNs: cpu_ns }
  }

  close(): Promise<void> {
    if (this.#ended !== undefined) return Promise.resolve()
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()))
    this.#child.stdin!.end()
    return closed
  }

  #answer(line: string): void {
    const { resolve, reject } = this.#waiting.shift()!
    const answer = JSON.parse(line) as Record<string, unknown>
    if (typeof answer.error === 'string') reject(this.#failure(answer.error))
    else resolve(answer)
  }

  #end(reason: string): void {
    running.delete(this.#child)
    this.#ended ??= this.#errors === '' ? reason : `${reason}: ${this.#errors.trim()}`
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure(this.#ended))
  }

  #failure(text: string): SkillgateError {
    return new SkillgateError('ERR_BENCH', `${this.#name}: ${text}`)
  }
}
