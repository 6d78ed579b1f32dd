import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type RunSpec, specFingerprint, standardLab } from '../../lib/compare/run-spec.js'
import { rlOptions } from '../../lib/config/rl-options.js'

const model = mkdtempSync(join(tmpdir(), 'skillgate-spec-'))
writeFileSync(join(model, 'weights'), 'one')
const spec: RunSpec = {
  ...{ variant: 'grpo', method: 'grpo', seed: 0, output: '/nowhere', model, lab: standardLab },
  options: { steps: 4, learningRate: 1e-3, threads: 1 },
}
const fingerprint = (more: Partial<RunSpec> = {}) => specFingerprint({ ...spec, ...more }, rlOptions.shape)

describe('the fingerprint of a run', () => {
  it('changes with all that the result follows from', async () => {
    const others = [
      { method: 'skillgate' },
      { seed: 1 },
      { lab: { ...standardLab, wrongLabels: 0.1 } },
      { lab: undefined },
      { options: { ...spec.options, learningRate: 2e-3 } },
      { options: { ...spec.options, steps: 5 } },
      { options: { ...spec.options, evalTasks: 3 } },
      { options: { ...spec.options, tasks: join(model, 'weights') } },
    ]
    const all = await Promise.all([fingerprint(), ...others.map(fingerprint)])
    expect(new Set(all).size).toBe(all.length)
    const before = await fingerprint()
    writeFileSync(join(model, 'weights'), 'two')
    expect(await fingerprint()).not.toBe(before)
  })

  it('does not with where it is, what it is called and how it is computed', async () => {
    const same = {
      variant: 'another',
      output: '/elsewhere',
      options: { ...spec.options, threads: 2, keepLast: 9 },
    }
    expect(await fingerprint(same)).toBe(await fingerprint())
  })
})
