import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeStart } from '../../lib/cli/compare-start.js'
import { standardLab } from '../../lib/compare/run-spec.js'
import { type SkillLab, skillLab } from '../../lib/environments/skill-lab/index.js'

it('a start is taught once, and again where it is not whole', async () => {
  const whole = await skillLab()
  const sft = { ...whole.defaults.sft, demonstrations: 4, batchSize: 2, warmupSteps: 1 }
  const lab = { ...whole, defaults: { ...whole.defaults, sft } } as unknown as SkillLab
  const folder = mkdtempSync(join(tmpdir(), 'skillgate-start-'))
  const make = () =>
    makeStart({ folder, setting: standardLab, engine: { threads: 1 }, onEvent: () => {}, lab })
  const model = (await make())!
  expect(model).toBe(join(folder, 'sft', 'checkpoints', 'step-000002', 'model'))
  const weights = join(model, 'model.safetensors')
  const made = statSync(weights).mtimeMs
  expect(await make()).toBe(model)
  expect(statSync(weights).mtimeMs).toBe(made)

  rmSync(join(folder, 'sft'), { recursive: true })
  expect(await make()).toBe(model)
  expect(statSync(weights).mtimeMs).toBeGreaterThan(made)
})
