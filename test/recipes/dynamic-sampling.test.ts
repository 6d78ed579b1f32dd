import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type TrainConfig, train } from '../../lib/recipes/rl.js'
import { readJsonLines } from '../../lib/report/json-lines.js'
import { readTrajectories } from '../../lib/rollout/trajectory-file.js'
import { agent, readerConfig, tasks } from './reader.js'

/** Every rollout fails, whatever it reads; the tasks say which read is right. */
async function failing(more: Partial<TrainConfig>) {
  const options = await readerConfig({
    ...{ method: 'skillgate', steps: 2, ...more },
    tasks: tasks.map(({ id, prompt, data }) => ({ id, prompt, data, oracle: [String(data.right)] })),
    agent: async (...given) => 0 * ((await agent(...given)) as number),
  })
  await train(options)
  const steps = readJsonLines(join(options.output, 'metrics.jsonl'))
  const groups = await readTrajectories(join(options.output, 'trajectories', 'step-000001.jsonl'))
  return { steps, kept: groups.filter(({ dropped }) => dropped === undefined) }
}

it('by reward drops groups of equal rewards, though labels tell their reads apart', async () => {
  const { steps, kept } = await failing({})
  expect(kept).toEqual([])
  expect(steps.map(({ draws, droppedEqual }) => [draws, droppedEqual])).toEqual([
    [6, 6],
    [6, 6],
  ])
})

it('by credit keeps them, and they teach the choice alone', async () => {
  const { steps, kept } = await failing({ dynamicSamplingBy: 'credit' })
  expect(kept).toHaveLength(3)
  for (const { trajectories } of kept) {
    const names = new Set(trajectories.map(({ reads }) => reads[0]!.skill))
    expect(names.size).toBeGreaterThan(1)
  }
  for (const step of steps) {
    expect(step.gradNorm).toBeGreaterThan(0)
    expect(step.credit).toMatchObject({ zeroVariance: 1, positive: 0, negative: 0 })
  }
})

it('by credit is by reward for a method that has no credit for reads', async () => {
  const { kept } = await failing({ dynamicSamplingBy: 'credit', method: 'grpo' })
  expect(kept).toEqual([])
})
