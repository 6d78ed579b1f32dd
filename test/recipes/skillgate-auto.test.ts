import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkpointPath } from '../../lib/checkpoint/find.js'
import { memoryBefore } from '../../lib/cli/show-memory.js'
import type { CreditMemory } from '../../lib/credit/method.js'
import { creditMethod } from '../../lib/credit/methods/index.js'
import type { RunEvent } from '../../lib/recipes/events.js'
import { train } from '../../lib/recipes/rl.js'
import { trajectoriesFile } from '../../lib/recipes/run-start.js'
import { readJsonLines } from '../../lib/report/json-lines.js'
import { readerConfig as configOf, names } from './reader.js'

const stateOf = (output: string, step: number) => join(checkpointPath(output, step), 'state.json')
const memoryOf = (output: string, step: number): CreditMemory =>
  JSON.parse(readFileSync(stateOf(output, step), 'utf8')).memory
const weightsOf = (output: string, step: number) =>
  readFileSync(join(checkpointPath(output, step), 'model', 'weights.json'), 'utf8')

it('learns what skills are worth, keeps it in checkpoints, and goes on from there to the same bits', async () => {
  const whole = await configOf()
  await train(whole)
  const memory = memoryOf(whole.output, 5)
  expect(memory.map(([name]) => name)).toEqual(names)
  for (const [, reads] of memory) expect(reads).toBeGreaterThan(memoryOf(whole.output, 2)[0]![1]!)
  const metrics = readJsonLines(join(whole.output, 'metrics.jsonl'))
  const last = metrics.at(-1) as unknown as { credit: { activePositive: number; activeNegative: number } }
  expect(last.credit.activePositive).toBeGreaterThan(0)
  expect(last.credit.activeNegative).toBeGreaterThan(0)

  const file = trajectoriesFile(whole.output, 5)
  expect(await memoryBefore(creditMethod('skillgate-auto'), file, 5)).toEqual(memoryOf(whole.output, 4))
  expect(await memoryBefore(creditMethod('skillgate'), file, 5)).toBeUndefined()

  const controller = new AbortController()
  const stopped = await configOf({ model: whole.model })
  const onEvent = (event: RunEvent) => {
    if (event.type === 'progress' && event.what.startsWith('step 3:') && event.done === 5) controller.abort()
  }
  expect(await train({ ...stopped, signal: controller.signal, onEvent })).toMatchObject({ step: 2 })
  expect(await train({ ...stopped, resume: true })).toMatchObject({ step: 5 })
  expect(memoryOf(stopped.output, 5)).toEqual(memory)
  expect(weightsOf(stopped.output, 5)).toBe(weightsOf(whole.output, 5))
})

it('without what was learned goes on differently: the memory counts', async () => {
  const whole = await configOf()
  await train(whole)
  const other = await configOf({ model: whole.model, steps: 2 })
  await train(other)
  const { memory: _, ...forgetful } = JSON.parse(readFileSync(stateOf(other.output, 2), 'utf8'))
  const text = `${JSON.stringify(forgetful, null, 1)}\n`
  const marker = join(checkpointPath(other.output, 2), 'COMPLETE')
  const { files } = JSON.parse(readFileSync(marker, 'utf8'))
  writeFileSync(stateOf(other.output, 2), text)
  writeFileSync(marker, JSON.stringify({ files: { ...files, 'state.json': text.length } }))
  await train({ ...other, resume: true, steps: 5 })
  expect(weightsOf(other.output, 5)).not.toBe(weightsOf(whole.output, 5))
})
