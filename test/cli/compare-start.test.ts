import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

function watched(signal = new AbortController().signal) {
  const lines: string[] = []
  const stream = { write: (text: string) => void lines.push(text) }
  return { progress: new Progress(stream), style: styleFor(stream, '1'), lab, signal, lines }
}

it('seeds share a start, or have one each that their seed alone decides', async () => {
  const surroundings = watched()
  const starts = async (ownStarts: boolean, seeds: number[], jobs = 1) => {
    const source = { ownStarts, seeds, jobs, output: emptyFolder() }
    const models = (await startsOf(source, standardLab, { threads: 1 }, surroundings))!
    return models.map((model) => readFileSync(join(model, 'model.safetensors')).toString('base64'))
  }
  const [shared, sharedToo] = await starts(false, [4, 5])
  expect(sharedToo).toBe(shared)
  const [zero, four] = await starts(true, [0, 4])
  expect(four).not.toBe(zero)
  expect(zero).toBe(shared)
  expect(await starts(true, [4])).toEqual([four])
  // Two side by side, the third alone with the cores of both.
  const [, fourToo, zeroToo] = await starts(true, [5, 4, 0], 2)
  expect([fourToo, zeroToo]).toEqual([four, zero])
  const said = surroundings.lines.join('')
  expect(said).toContain('done 2/2  start of seed')
  expect(said).not.toContain('start of seed 0')

  const source = { from: 'm', ownStarts: false, seeds: [1, 2], output: '', jobs: 1 }
  expect(await startsOf(source, undefined, {}, surroundings)).toEqual(['m', 'm'])
})

it('starts that are stopped are none, and what they have learned is gone on with', async () => {
  const controller = new AbortController()
  const surroundings = watched(controller.signal)
  const output = emptyFolder()
  const source = { ownStarts: true, seeds: [1, 2], output, jobs: 2 }
  controller.abort()
  expect(await startsOf(source, standardLab, {}, surroundings)).toBeUndefined()
  const models = (await startsOf(source, standardLab, {}, watched()))!
  expect(models.map((model) => model.slice(output.length + 1))).toEqual([
    'starts/seed-1/sft/checkpoints/step-000002/model',
    'starts/seed-2/sft/checkpoints/step-000002/model',
  ])

  // Those that are made take no place among those that are taught side by side.
  const again = watched()
  expect(await startsOf({ ...source, seeds: [1, 3, 2, 4] }, standardLab, {}, again)).toHaveLength(4)
  const done = again.lines.join('').match(/done .*start of seed \d/g)!
  expect(done.map((line) => line.replace(/start of seed \d/, ''))).toEqual(['done 1/2  ', 'done 2/2  '])
  expect(done.map((line) => line.slice(-1)).sort()).toEqual(['3', '4'])
})

it('a start that fails is named by its error, after the others have ended', async () => {
  const output = emptyFolder()
  mkdirSync(join(output, 'starts'))
  writeFileSync(join(output, 'starts', 'seed-1'), 'no folder')
  const source = { ownStarts: true, seeds: [1, 2], output, jobs: 2 }
  await expect(startsOf(source, standardLab, {}, watched())).rejects.toThrow('seed-1')
  expect(existsSync(join(output, 'starts', 'seed-2', 'start.json'))).toBe(true)
})
