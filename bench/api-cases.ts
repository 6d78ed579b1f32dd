import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kernels } from '../lib/addon/kernels.js'
import { NativePolicy } from '../lib/policy/native-policy.js'
import { labShape, randomTokens, writeModelFolder } from './model-folder.js'
import type { Timing } from './worker.js'

/** A call of the public API, timed as the caller sees it: checks, copies and the hop to the addon's thread included. */
export interface ApiCase {
  op: string
  shape: string
  /** Useful floating point operations of one call. */
  flop?: number
  /** Loads what it needs; `run` is timed. */
  open(threads: number): Promise<{ run(): Promise<unknown>; close(): void }>
}

/** Of a promise, from the call to its result. */
export async function timed(run: () => Promise<unknown>): Promise<Timing> {
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  await run()
  const ns = Number(process.hrtime.bigint() - start)
  const { user, system } = process.cpuUsage(cpu)
  return { ns, cpuNs: (user + system) * 1e3 }
}

async function labPolicy(threads: number) {
  const dir = mkdtempSync(join(tmpdir(), 'skillgate-bench-'))
  try {
    writeModelFolder(dir, labShape)
    return await NativePolicy.load(dir, { threads })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const lossShape = [256, 256, 8192] as const
const sequences = 8
const length = 128

function batch() {
  const T = sequences * length
  const weight = new Float32Array(T).fill(1 / T)
  for (let s = 0; s < sequences; s++) weight[s * length] = 0
  return {
    tokens: randomTokens(T, labShape.vocabulary, 1),
    sequenceOffsets: Int32Array.from({ length: sequences + 1 }, (_, s) => s * length),
    advantage: new Float32Array(T).fill(1),
    weight,
  }
}

function policyCase(op: string, shape: string, run: (policy: NativePolicy) => Promise<unknown>): ApiCase {
  return {
    op,
    shape,
    async open(threads) {
      const policy = await labPolicy(threads)
      return { run: () => run(policy), close: () => policy.dispose() }
    },
  }
}

const packed = `${sequences} x ${length} tokens, skill-lab's model`

export const apiCases: readonly ApiCase[] = [
  {
    op: 'kernels.policyLoss',
    shape: `T ${lossShape[0]} D ${lossShape[1]} V ${lossShape[2]}`,
    flop: 6 * lossShape[0] * lossShape[1] * lossShape[2],
    async open(threads) {
      const [T, D, V] = lossShape
      const input = {
        hidden: Float32Array.from({ length: T * D }, (_, i) => Math.sin(i)),
        lmHead: Float32Array.from({ length: V * D }, (_, i) => 0.1 * Math.sin(0.37 * i)),
        shape: lossShape,
        target: randomTokens(T, V, 2),
        advantage: new Float32Array(T).fill(1),
        weight: new Float32Array(T).fill(1 / T),
        threads,
      }
      return { run: () => kernels.policyLoss(input), close: () => {} }
    },
  },
  policyCase('policy.logprobs', packed, (policy) => policy.logprobs(batch())),
  policyCase('policy.accumulate', packed, (policy) => policy.accumulate(batch())),
  policyCase('policy.step', "skill-lab's model", (policy) => policy.step({ learningRate: 1e-6 })),
  policyCase('policy.generate', "64 tokens after 16, skill-lab's model", (policy) =>
    policy.generate({ tokens: randomTokens(16, labShape.vocabulary, 3), maxTokens: 64, temperature: 0 }),
  ),
]
