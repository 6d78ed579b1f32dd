import { Bench } from 'tinybench'
import type { NativeOps, OpSpec, Prepared } from './native-ops.js'
import { type Spread, spread } from './statistics.js'
import type { Timing } from './worker.js'

/** One line of the table. Absent: the case has no such figure. */
export interface Measured {
  op: string
  shape: string
  rounds: number
  /** Milliseconds of one run. */
  time: Spread
  /** Useful ones a second. */
  flops?: number
  /** Over the peak rate of fused multiply-adds, measured right before, round by round. */
  peakShare?: number
  /** That one run must move at least. */
  bytes?: number
  /** bytes / time over the bandwidth of reading memory, measured right before. Above 1: the data were in a cache. */
  bandwidthShare?: number
}

const shortest = 2e6 // ns of a timed run; a shorter one is repeated

/** What the machine gives, to be measured beside each round. */
export class Machine {
  private constructor(
    readonly ops: NativeOps,
    readonly peak: Prepared,
    readonly memory: Prepared,
  ) {}

  static async of(ops: NativeOps): Promise<Machine> {
    return new Machine(
      ops,
      await ops.prepare({ op: 'fma_peak' }),
      await ops.prepare({ op: 'read_bandwidth' }),
    )
  }

  /** FLOP and bytes a nanosecond. */
  async rates(): Promise<{ flops: number; bandwidth: number }> {
    const peak = await this.ops.run(this.peak)
    const memory = await this.ops.run(this.memory)
    return { flops: this.peak.flop / peak.ns, bandwidth: this.memory.bytes / memory.ns }
  }
}

/** Runs `round` at least `rounds` times under tinybench, with the machine's rates before each. */
export async function measure(
  machine: Machine,
  subject: { op: string; shape: string; flop?: number; bytes?: number },
  rounds: number,
  round: () => Promise<Timing>,
): Promise<Measured> {
  const shares: { peak: number; bandwidth: number }[] = []
  const bench = new Bench({ iterations: rounds, time: 0, warmup: false, retainSamples: true })
  bench.add(
    subject.op,
    async () => {
      const { flops, bandwidth } = await machine.rates()
      const { ns } = await round()
      shares.push({
        peak: (subject.flop ?? 0) / ns / flops,
        bandwidth: (subject.bytes ?? 0) / ns / bandwidth,
      })
      return { overriddenDuration: ns / 1e6 }
    },
    { async: true },
  )
  const [task] = await bench.run()
  const result = task!.result
  if (!('latency' in result)) throw 'error' in result ? result.error : new Error(`${subject.op} was not run`)
  const time = spread(result.latency.samples!)
  return {
    op: subject.op,
    shape: subject.shape,
    rounds: shares.length,
    time,
    flops: subject.flop ? subject.flop / (time.median / 1e3) : undefined,
    peakShare: subject.flop ? spread(shares.map(({ peak }) => peak)).median : undefined,
    bytes: subject.bytes || undefined,
    bandwidthShare: subject.bytes ? spread(shares.map(({ bandwidth }) => bandwidth)).median : undefined,
  }
}

export async function measureOp(machine: Machine, spec: OpSpec, rounds: number): Promise<Measured> {
  const { ops } = machine
  const prepared = await ops.prepare(spec)
  try {
    const { ns } = await ops.run(prepared) // also warms up
    const repeat = Math.max(1, Math.ceil(shortest / Math.max(1, ns)))
    return await measure(machine, { ...prepared, op: spec.op }, rounds, () => ops.run(prepared, repeat))
  } finally {
    await ops.drop(prepared)
  }
}
