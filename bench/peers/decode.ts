import { type ModelShape, parameterCount, randomTokens } from '../model-folder.js'
import { quantile, ratios, spread } from '../statistics.js'
import { type Peer, preparePeer, type Race, race } from './contender.js'
import { gated, type Row } from './gates.js'
import type { Experiment, Setting } from './setting.js'
import { call, modelText, save, withModel } from './whole-model.js'

/** C6: greedy decoding of one sequence; the time of the prompt and the first token is taken off. */
export function decodeExperiment(shape: ModelShape, prompt: number, count: number): Experiment {
  const where = `${modelText(shape)}; ${count} tokens after ${prompt}`
  return {
    name: `decode ${where}`,
    run: (setting) =>
      withModel(setting, shape, false, async (policy, dir) => {
        const tokens = randomTokens(prompt, shape.vocabulary, 8)
        const generate = (maxTokens: number) => policy.generate({ tokens, maxTokens, temperature: 0 })
        const { tokens: generated } = await generate(1 + count)
        save(setting.scratch, 'prompt', tokens)
        save(setting.scratch, 'generated', generated)
        const peers: Peer[] = []
        const fields = { model: dir, folder: setting.scratch }
        try {
          setting.show('checking transformers')
          for (const n of [1, 1 + count]) {
            const peer = await preparePeer(setting.torch.worker, 'transformers_generate', {
              ...fields,
              count: n,
            })
            peers.push({ ...peer, name: `transformers ${n}` })
          }
          const memory = { name: 'memory', run: () => setting.ops.run(setting.machine.memory) }
          const ours = [1, 1 + count].map((n) => call(`ours ${n}`, () => generate(n)))
          const result = await race([memory, ...ours, ...peers], setting.rounds, setting.show)
          return decodeRows(setting, shape, where, count, result)
        } finally {
          for (const peer of peers) await peer.drop()
        }
      }),
  }
}

function decodeRows(setting: Setting, shape: ModelShape, where: string, count: number, result: Race): Row[] {
  const perToken = (who: string, of: (name: string) => number[]) => {
    const whole = of(`${who} ${1 + count}`)
    return of(`${who} 1`).map((first, round) => (whole[round]! - first) / count)
  }
  const wall = (name: string) => result.ns(name)
  const cpu = (name: string) => result.cpuNs(name)
  const bytes = 4 * parameterCount(shape)
  const ours = perToken('ours', wall)
  const bandwidth = wall('memory').map((ns) => setting.machine.memory.bytes / ns)
  setting.bandwidths.push(...bandwidth)
  const traffic = ours.map((ns) => bytes / ns)
  const median = (samples: readonly number[]) => quantile(samples, 0.5)
  const theirs = perToken('transformers', wall)
  const byCpu = median(ratios(perToken('transformers', cpu), perToken('ours', cpu)))
  return [
    gated('C6', {
      shape: where,
      value: spread(ratios(traffic, bandwidth)),
      why: `${(1e9 / median(ours)).toFixed(1)} tokens/s, ${(bytes / 1e6).toFixed(0)} MB of weights, ${median(traffic).toFixed(1)} of ${median(bandwidth).toFixed(1)} GB/s`,
    }),
    { what: 'transformers generate / ours', shape: where, value: spread(ratios(theirs, ours)), byCpu },
  ]
}
