import { SkillgateError } from '../lib/errors.js'
import { type ApiCase, apiCases, timed } from './api-cases.js'
import { Machine, type Measured, measure, measureOp } from './measure-ops.js'
import { buildNativeOps, NativeOps } from './native-ops.js'
import { opCases } from './op-cases.js'

export interface BenchOptions {
  filter: string
  rounds: number
  threads: number
  instructionSet: string
}

export interface BenchReport {
  engine: string
  options: BenchOptions
  cases: Measured[]
}

/** Runs every case that the filter leaves. `show` is told what goes on. */
export async function runBench(options: BenchOptions, show: (text: string) => void): Promise<BenchReport> {
  const fits = (op: string, shape: string) => `${op} ${shape}`.includes(options.filter)
  show('building bench/native')
  const ops = await NativeOps.start(await buildNativeOps(), options.threads, options.instructionSet)
  const cases: Measured[] = []
  try {
    const machine = await Machine.of(ops)
    const wanted = opCases.filter(({ op, ...fields }) =>
      fits(op, Object.entries(fields).flat().join(' ').replace('pass ', '')),
    )
    const calls = apiCases.filter(({ op, shape }) => fits(op, shape))
    const total = wanted.length + calls.length
    if (total === 0) throw new SkillgateError('ERR_BENCH', `no case contains "${options.filter}"`)
    for (const spec of wanted) {
      show(`${cases.length + 1} of ${total}: ${spec.op}`)
      cases.push(await measureOp(machine, spec, options.rounds))
    }
    for (const call of calls) {
      show(`${cases.length + 1} of ${total}: ${call.op}`)
      cases.push(await measureCall(machine, call, options))
    }
    return { engine: ops.description, options, cases }
  } finally {
    await ops.close()
  }
}

async function measureCall(machine: Machine, call: ApiCase, options: BenchOptions): Promise<Measured> {
  const opened = await call.open(options.threads)
  try {
    await opened.run()
    return await measure(machine, call, options.rounds, () => timed(opened.run))
  } finally {
    opened.close()
  }
}
