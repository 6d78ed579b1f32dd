import { NativePolicy } from '../../lib/policy/native-policy.js'
import { type ModelShape, parameterCount, randomTokens } from '../model-folder.js'
import { quantile, ratios, spread } from '../statistics.js'
import { type Peer, preparePeer, type Race, race } from './contender.js'
import { gated, type Row } from './gates.js'
import type { Experiment, Setting } from './setting.js'
import { call, modelText, save, withModel } from './whole-model.js'

const kinds = ['f32', 'bf16'] as const

/** C6: greedy decoding of one sequence; the time of the prompt and the first token is taken off. */
export function decodeExperiment(shape: ModelShape, prompt: number, count: number): Experiment {
  const where = `${modelText(shape)}; ${count} tokens after ${prompt}`
  return {
    name: `decode ${where}`,
    minutes: 0.5 + (count * parameterCount(shape)) / 2e9,
    run: (setting) =>
      withModel(setting, shape, { trainable: false }, async (policy, dir) => {
        const halved = await NativePolicy.load(dir, {
          threads: setting.threads,
          trainable: false,
          weights: 'bf16',
        })
        const policies = { f32: policy, bf16: halved }
        const tokens = randomTokens(prompt, shape.vocabulary, 8)
        const generate = (kind: (typeof kinds)[number], maxTokens: number) =>
          policies[kind].generate({ tokens, maxTokens, temperature: 0 })
        const peers: Peer[] = []
        try {
          const { tokens: generated } = await generate('f32', 1 + count)
          save(setting.scratch, 'prompt', tokens)
          save(setting.scratch, 'generated', generated)
          const fields = { model: dir, folder: setting.scratch }
          setting.show('checking transformers')
          for (const n of [1, 1 + count]) {
            const peer = await preparePeer(setting.torch.worker, 'transformers_generate', {
              ...fields,
              count: n,
            })
            peers.push({ ...peer, name: `transformers ${n}` })
          }
          const memory = { name: 'memory', run: () => setting.ops.run(setting.machine.memory) }
          const ours = kinds.flatMap((kind) =>
            [1, 1 + count].map((n) => call(`${kind} ${n}`, () => generate(kind, n))),
          )
          const result = await race([memory, ...ours, ...peers], setting)
          return decodeRows(setting, shape, where, count, result)
        } finally {
          halved.dispose()
          for (const peer of peers) await peer.drop()
        }
      }),
  }
}

function decodeRows(setting: Setting, shape: ModelShape, where: string, count: number, result: Race): Row[] {
  const median = (samples: readonly number[]) => quantile(samples, 0.5)
  const perToken = (who: string, of: (name: string) => number[]) => {
    const whole = of(`${who} ${1 + count}`)
    return of(`${who} 1`).map((first, round) => (whole[round]! - first) / count)
  }
  const wall = (name: string) => result.ns(name)
  const cpu = (name: string) => result.cpuNs(name)
  const bandwidth = wall('memory').map((ns) => setting.machine.memory.bytes / ns)
  setting.bandwidths.push(...bandwidth)
  const rows = kinds.map((kind) => {
    const bytes = { f32: 4, bf16: 2 }[kind] * parameterCount(shape)
    const ours = perToken(kind, wall)
    const traffic = ours.map((ns) => bytes / ns)
    return gated('C6', {
      shape: `${kind} weights; ${where}`,
      value: spread(ratios(traffic, bandwidth)),
      rounds: result.rounds,
      why: `${(1e9 / median(ours)).toFixed(1)} tokens/s, ${(bytes / 1e6).toFixed(0)} MB of weights, ${median(traffic).toFixed(1)} of ${median(bandwidth).toFixed(1)} GB/s`,
    })
  })
  const others = kinds.map((kind): Row => {
    const over = (of: (name: string) => number[]) => ratios(perToken('transformers', of), perToken(kind, of))
    const what = `transformers generate (f32) / ours with ${kind} weights`
    return { what, shape: where, value: spread(over(wall)), rounds: result.rounds, byCpu: median(over(cpu)) }
  })
  return [...rows, ...others]
}
