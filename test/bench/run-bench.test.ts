import { beforeAll, describe, expect, it } from 'vitest'
import { buildNativeOps, NativeOps } from '../../bench/native-ops.js'
import { opCases } from '../../bench/op-cases.js'
import { measuredTable } from '../../bench/op-table.js'
import { type BenchReport, runBench } from '../../bench/run-bench.js'

// Compiles bench/native once: the engine and the cases, about a minute.
beforeAll(async () => {
  await buildNativeOps()
}, 600_000)

const options = { rounds: 1, threads: 2, instructionSet: '' }

describe('runBench', () => {
  it('runs what the filter leaves, once a round', async () => {
    const shown: string[] = []
    const report = await runBench({ ...options, rounds: 2, filter: 'rope' }, (text) => shown.push(text))
    expect(report.cases.map(({ op, shape, rounds }) => [op, shape, rounds])).toEqual([
      ['rope', 'T 1024 H 9 E 64', 2],
    ])
    const [rope] = report.cases
    expect(rope!.bytes).toBe(2 * 4 * 1024 * 9 * 64)
    for (const figure of [rope!.time.median, rope!.flops!, rope!.peakShare!, rope!.bandwidthShare!]) {
      expect(figure).toBeGreaterThan(0)
      expect(Number.isFinite(figure)).toBe(true)
    }
    expect(shown.at(-1)).toBe('1 of 1: rope')
    expect(JSON.parse(JSON.stringify(report))).toEqual(report satisfies BenchReport)
    expect(measuredTable(report)).toContain('rope  T 1024 H 9 E 64')
  })

  it('calls the public API', async () => {
    const report = await runBench({ ...options, filter: 'policy.step' }, () => {})
    expect(report.cases.map(({ op }) => op)).toEqual(['policy.step'])
  })

  it('says when no case is left', async () => {
    await expect(runBench({ ...options, filter: 'no such op' }, () => {})).rejects.toThrow(
      'no case contains "no such op"',
    )
  })
})

describe('bench/native', () => {
  it('prepares every op that the table names', async () => {
    const ops = await NativeOps.start(await buildNativeOps(), 1)
    try {
      for (const op of new Set(opCases.map((spec) => spec.op))) {
        const small = { T: 4, N: 32, K: 32, D: 8, V: 64, F: 16, S: 2, n: 40, H: 2, G: 1, E: 8, R: 2 }
        const prepared = await ops.prepare({ ...small, op })
        expect((await ops.run(prepared)).ns, op).toBeGreaterThan(0)
        await ops.drop(prepared)
      }
    } finally {
      await ops.close()
    }
  })

  it('counts useful work of the loss over the rows that carry it', async () => {
    const ops = await NativeOps.start(await buildNativeOps(), 1)
    const shape = { op: 'policy_loss', T: 40, D: 24, V: 96 }
    const work = async (density: number) => (await ops.prepare({ ...shape, density })).flop
    expect([await work(1), await work(0.5), await work(0.1)]).toEqual(
      [40, 20, 4].map((rows) => 6 * rows * 24 * 96),
    )
    await ops.close()
  })

  it('answers a bad request and goes on', async () => {
    const ops = await NativeOps.start(await buildNativeOps(), 1)
    await expect(ops.prepare({ op: 'rope', T: 4 })).rejects.toThrow('expected a size H, found nothing')
    await expect(ops.prepare({ op: 'rope', T: 0, H: 1, E: 2 })).rejects.toThrow('expected at least 1, got 0')
    await expect(ops.prepare({ op: 'matmul', pass: 'up', T: 1, N: 1, K: 1 })).rejects.toThrow('got up')
    await expect(ops.prepare({ op: 'none' })).rejects.toThrow('no op named "none"')
    const prepared = await ops.prepare({ op: 'rope', T: 4, H: 1, E: 2 })
    expect((await ops.run(prepared)).ns).toBeGreaterThan(0)
    await ops.close()
  })
})
