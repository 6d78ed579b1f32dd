import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../lib/recipes/events.js'
import { type SftConfig, sft } from '../../lib/recipes/sft.js'
import { countLossTokens, lossSequences } from '../../lib/recipes/sft-data.js'
import { readJsonLines } from '../../lib/report/json-lines.js'
import { newFolder, unigramModel, unigramOpener, VOCABULARY } from './unigram-policy.js'

const demonstration = (i: number) => ({
  taskId: `t${i % 3}`,
  messages: [
    { role: 'user' as const, content: `question ${i}` },
    { role: 'assistant' as const, content: 'see the sea' },
    { role: 'user' as const, content: 'and?' },
    { role: 'assistant' as const, content: 'see' },
  ],
})
const demonstrations = Array.from({ length: 10 }, (_, i) => demonstration(i))

function configOf(more: Partial<SftConfig> = {}): SftConfig {
  return {
    model: unigramModel(),
    output: join(newFolder(), 'run'),
    demonstrations,
    heldOut: demonstrations.slice(0, 2),
    openPolicy: unigramOpener().openPolicy,
    onEvent: () => {},
    epochs: 2.5,
    batchSize: 4,
    learningRate: 1,
    schedule: 'constant',
    checkpointEvery: 2,
    keepLast: 10,
    evalEvery: 3,
    ...more,
  }
}

const weightsOf = (checkpoint: string | undefined) =>
  readFileSync(join(checkpoint!, 'model', 'weights.json'), 'utf8')
const metricsOf = (output: string) =>
  readJsonLines(join(output, 'metrics.jsonl')).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !/seconds|PerSecond/i.test(name))),
  )

describe('sft', () => {
  it('brings both losses down, over exactly the epochs asked for', async () => {
    const config = configOf()
    const result = await sft(config)
    expect(result).toMatchObject({ step: 7, steps: 7, stopped: false })
    const metrics = metricsOf(config.output)
    const losses = metrics.filter(({ type }) => type === 'step').map(({ loss }) => loss as number)
    // A model whose logits are all 0 is as surprised by one token as by another.
    expect(losses[0]).toBeCloseTo(Math.log(VOCABULARY), 4)
    expect(losses.at(-1)!).toBeLessThan(losses[0]! - 1)
    const heldOut = metrics.filter(({ type }) => type === 'heldOutLoss')
    expect(heldOut.map(({ step }) => step)).toEqual([0, 3, 6, 7])
    expect(heldOut.at(-1)!.loss as number).toBeLessThan((heldOut[0]!.loss as number) - 1)
    const perDemonstration = (metrics[1]!.lossTokens as number) / 4
    const trained = metrics
      .filter(({ type }) => type === 'step')
      .reduce((sum, { lossTokens }) => sum + (lossTokens as number), 0)
    expect(trained).toBe(25 * perDemonstration)
  })

  it.each([1, 3, 5, 7])(
    'stopped in step %i and resumed ends as the run that was not stopped',
    async (stopAfter) => {
      const whole = configOf()
      const expected = await sft(whole)
      const controller = new AbortController()
      const onEvent = (event: RunEvent) => {
        if (event.type === 'loss' && event.figures.step === stopAfter) controller.abort()
      }
      const stopped = configOf({ model: whole.model })
      const first = await sft({ ...stopped, signal: controller.signal, onEvent })
      expect(first.step).toBeLessThanOrEqual(stopAfter)
      const second = await sft({ ...stopped, resume: true })
      expect(second).toMatchObject({ step: 7, stopped: false })
      expect(weightsOf(second.checkpoint)).toBe(weightsOf(expected.checkpoint))
      expect(metricsOf(stopped.output)).toEqual(metricsOf(whole.output))
    },
  )

  it('leaves demonstrations that are too long alone, and says how many', async () => {
    const long = { messages: [{ role: 'assistant' as const, content: 'sea '.repeat(3000) }] }
    const warnings: string[] = []
    const onEvent = (event: RunEvent) => {
      if (event.type === 'warning') warnings.push(event.text)
    }
    const config = configOf({ demonstrations: [...demonstrations, long], epochs: 1, maxTokens: 100, onEvent })
    expect(await sft(config)).toMatchObject({ step: 3 })
    expect(warnings.join()).toContain('1 of 11 demonstrations are longer than 100 tokens')
  })

  it.each([
    [
      'no assistant',
      [{ messages: [{ role: 'user', content: 'x' }] }],
      'at least one message of role assistant',
    ],
    ['an unknown role', [{ messages: [{ role: 'robot', content: 'x' }] }], 'role'],
    [
      'calls beside the text',
      [{ messages: [{ role: 'assistant', content: '', tool_calls: [] }] }],
      'tool_calls',
    ],
    ['nothing', [], 'at least one demonstration'],
    ['no object', [3], '[0]'],
  ])('refuses demonstrations with %s', async (_, bad, named) => {
    await expect(sft(configOf({ demonstrations: bad as never }))).rejects.toMatchObject({
      code: 'ERR_DEMONSTRATIONS',
      message: expect.stringContaining(named),
    })
  })
})

describe('lossSequences', () => {
  const sequence = (flags: number[]) => ({
    tokens: Int32Array.from(flags, (_, i) => i),
    generated: Uint8Array.from(flags),
  })
  it('weighs every trained token alike, so that 3 tokens of loss 1 and 7 of loss 2 come to 1.7', () => {
    const batch = [
      { sequences: [sequence([0, 1, 1, 1])] },
      { sequences: [sequence([0, 0, 1, 1, 1]), sequence([0, 1, 1, 1, 1])] },
    ]
    expect(countLossTokens(batch)).toBe(10)
    const sequences = lossSequences(batch)
    const losses = [1, 2, 2]
    const loss = sequences.reduce(
      (sum, { weight }, i) => sum + weight.reduce((a, w) => a + w, 0) * losses[i]!,
      0,
    )
    expect(loss).toBeCloseTo(1.7, 6)
    expect(sequences[0]!.weight[0]).toBe(0)
  })
})
