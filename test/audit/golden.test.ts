import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Audit, audit } from '../../lib/audit/audit.js'
import type { Measures } from '../../lib/audit/measures.js'
import { loadQwen3 } from './qwen3.js'

const folder = fileURLToPath(new URL('../fixtures/golden/audit', import.meta.url))
const golden = JSON.parse(readFileSync(`${folder}/expected.json`, 'utf8'))

/** Our figures under the names of the released analysis. */
function named(m: Measures) {
  return {
    n: m.trajectories,
    n_with_read: m.withRead,
    read_share_median: m.callShareMedian,
    read_share_mean: m.callShareMean,
    identity_share_median: m.identityShareMedian,
    assistant_tokens_median: m.generatedMedian,
    assistant_over_response_mean: m.generatedOverResponseMean,
    oracle_read_n: m.oracleReaders,
    oracle_negative_rate: m.oracleNegativeRate,
    mixed_groups: m.mixedGroups,
    delta_advantage_mean: m.advantageGapMean,
    delta_advantage_sd: m.advantageGapSd,
    delta_advantage_snr: m.advantageGapSnr,
    'delta_success.mean': m.value.mean,
    'delta_success.tasks': m.value.tasks,
  }
}

function expectGolden(got: Measures, { delta_success, label: _, ...rest }: Record<string, unknown>) {
  const { mean, tasks } = delta_success as { mean: number | null; tasks: number }
  const wanted: Record<string, unknown> = {
    ...rest,
    'delta_success.mean': mean,
    'delta_success.tasks': tasks,
  }
  const ours: Record<string, unknown> = named(got)
  expect(Object.keys(ours).sort()).toEqual(Object.keys(wanted).sort())
  for (const [name, value] of Object.entries(wanted)) {
    const isFraction = typeof value === 'number' && !Number.isInteger(value)
    if (!isFraction) expect(ours[name], name).toBe(value)
    else expect(Math.abs((ours[name] as number) - value) / Math.abs(value), name).toBeLessThan(1e-9)
  }
}

describe('192 trajectories in the dump format of the released trainer', () => {
  let result: Audit
  beforeAll(async () => {
    result = await audit(folder, { tokenizer: await loadQwen3() })
  }, 120_000)

  it('counts what the released analysis counts', () => {
    expect(result.formats).toEqual(['dump'])
    expect(result.counts).toMatchObject({
      read: 192,
      measured: 192,
      steps: 3,
      groups: 24,
      failed: 0,
      empty: 0,
    })
    expect([golden.observations, golden.eligible, golden.steps]).toEqual([192, 192, 3])
    expect(result.settings.bins).toEqual(golden.bin_edges)
  })

  it('has its overall figures', () => expectGolden(result.overall, golden.overall))

  it('has its figures in each length bin', () => {
    expect(result.bins.map((bin) => bin.label)).toEqual(
      golden.bins.map((bin: { label: string }) => bin.label),
    )
    for (const [i, bin] of result.bins.entries()) expectGolden(bin, golden.bins[i])
  })

  it('has an interval over tasks around the value', () => {
    const { mean, low, high } = result.overall.value
    expect(low).toBeGreaterThan(-1)
    expect(low).toBeLessThan(mean!)
    expect(high).toBeGreaterThan(mean!)
    expect(high).toBeLessThan(1)
  })

  it('holds plain data: no figure is lost in JSON', () => {
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  })
})
