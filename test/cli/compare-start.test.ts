import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { makeStart, startsOf } from '../../lib/cli/compare-start.js'
import { standardLab } from '../../lib/compare/run-spec.js'
import { type SkillLab, skillLab } from '../../lib/environments/skill-lab/index.js'
import { Progress } from '../../lib/report/progress.js'
import { styleFor } from '../../lib/report/style.js'

let lab: SkillLab
beforeAll(async () => {
  const whole = await skillLab()
  const sft = { ...whole.defaults.sft, demonstrations: 4, batchSize: 2, warmupSteps: 1 }
  lab = { ...whole, defaults: { ...whole.defaults, sft } } as unknown as SkillLab
})
const emptyFolder = () => mkdtempSync(join(tmpdir(), 'skillgate-start-'))

it('a start is taught once, and again where it is not whole', async () => {
  const folder = emptyFolder()
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

it('seeds share a start, or have one each that their seed alone decides', async () => {
  const lines: string[] = []
  const stream = { write: (text: string) => void lines.push(text) }
  const surroundings = {
    ...{ progress: new Progress(stream), style: styleFor(stream, '1'), lab },
    signal: new AbortController().signal,
  }
  const starts = async (ownStarts: boolean, seeds: number[]) => {
    const source = { ownStarts, seeds, output: emptyFolder() }
    const models = (await startsOf(source, standardLab, { threads: 1 }, surroundings))!
    return models.map((model) => readFileSync(join(model, 'model.safetensors')).toString('base64'))
  }
  const [shared, sharedToo] = await starts(false, [4, 5])
  expect(sharedToo).toBe(shared)
  const [zero, four] = await starts(true, [0, 4])
  expect(four).not.toBe(zero)
  expect(zero).toBe(shared)
  expect(await starts(true, [4])).toEqual([four])
  expect(lines.join('')).toContain('the start of the runs of seed 4')
  const given = await startsOf(
    { from: 'm', ownStarts: false, seeds: [1, 2], output: '' },
    undefined,
    {},
    surroundings,
  )
  expect(given).toEqual(['m', 'm'])
})
