import { NativePolicy } from '../../lib/policy/native-policy.js'
import { type ModelShape, parameterCount, randomTokens } from '../model-folder.js'
import { buildNativeOps, NativeOps } from '../native-ops.js'
import { quantile, ratios, spread } from '../statistics.js'
import { type Peer, preparePeer, type Race, race } from './contender.js'
import { gated, type Row } from './gates.js'
import type { Experiment, Setting } from './setting.js'
import { call, modelText, save, withModel } from './whole-model.js'

interface Engine {
  name: string
  weights: 'f32' | 'bf16'
  threads: number
  policy: NativePolicy
}

/** C6: greedy decoding of one sequence; the time of the prompt and the first token is taken off. */
export function decodeExperiment(shape: ModelShape, prompt: number, count: number): Experiment {
  const where = `${modelText(shape)}; ${count} tokens after ${prompt}`
  return {
    name: `decode ${where}`,
    minutes: 0.5 + (count * parameterCount(shape)) / 2e9,
    run: (setting) =>
      withModel(setting, shape, { trainable: false }, async (policy, dir) => {
        const { threads } = setting
        const engines: Engine[] = [{ name: 'f32', weights: 'f32', threads, policy }]
        const single = await NativeOps.start(await buildNativeOps(), 1)
        const peers: Peer[] = []
        try {
          for (const [weights, count] of [['bf16', threads] as const, ['f32', 1] as const]) {
            const options = { threads: count, trainable: false, weights }
            const name = `${weights}, ${count}`
            engines.push({ name, weights, threads: count, policy: await NativePolicy.load(dir, options) })
          }
          const tokens = randomTokens(prompt, shape.vocabulary, 8)
          const generate = (engine: Engine, maxTokens: number) =>
            engine.policy.generate({ tokens, maxTokens, temperature: 0 })
          const { tokens: generated } = await generate(engines[0]!, 1 + count)
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
          const alone = await single.prepare({ op: 'read_bandwidth' })
          const memory = [
            { name: `memory ${threads}`, run: () => setting.ops.run(setting.machine.memory) },
            { name: 'memory 1', run: () => single.run(alone) },
          ].filter(({ name }, i) => i === 0 || name !== `memory ${threads}`)
          const ours = engines.flatMap((engine) =>
            [1, 1 + count].map((n) => call(`${engine.name} ${n}`, () => generate(engine, n))),
          )
          const result = await race([...memory, ...ours, ...peers], setting)
          return decodeRows(setting, shape, where, count, engines, result)
        } finally {
          for (const engine of engines.slice(1)) engine.policy.dispose()
          for (const peer of peers) await peer.drop()
          await single.close()
        }
      }),
  }
}

function decodeRows(
  setting: Setting,
  shape: ModelShape,
  where: string,
  count: number,
  engines: readonly Engine[],
  result: Race,
): Row[] {
  const median = (samples: readonly number[]) => quantile(samples, 0.5)
  const perToken = (who: string, of: (name: string) => number[]) => {
    const whole = of(`${who} ${1 + count}`)
    return of(`${who} 1`).map((first, round) => (whole[round]! - first) / count)
  }
  const wall = (name: string) => result.ns(name)
  const cpu = (name: string) => result.cpuNs(name)
  const rate = (threads: number) => wall(`memory ${threads}`).map((ns) => setting.machine.memory.bytes / ns)
  setting.bandwidths.push(...rate(setting.threads))
  const rows = engines.map(({ name, weights, threads }) => {
    const bytes = { f32: 4, bf16: 2 }[weights] * parameterCount(shape)
    const bandwidth = rate(threads)
    const ours = perToken(name, wall)
    const traffic = ours.map((ns) => bytes / ns)
    return gated('C6', {
      shape: `${weights} weights, ${threads} ${threads === 1 ? 'thread' : 'threads'}; ${where}`,
      value: spread(ratios(traffic, bandwidth)),
      rounds: result.rounds,
      why: `${(1e9 / median(ours)).toFixed(1)} tokens/s, ${(bytes / 1e6).toFixed(0)} MB of weights, ${median(traffic).toFixed(1)} of ${median(bandwidth).toFixed(1)} GB/s`,
    })
  })
  const others = engines.slice(0, 2).map(({ name, weights }): Row => {
    const over = (of: (name: string) => number[]) => ratios(perToken('transformers', of), perToken(name, of))
    const what = `transformers generate (f32) / ours with ${weights} weights`
    return { what, shape: where, value: spread(over(wall)), rounds: result.rounds, byCpu: median(over(cpu)) }
  })
  return [...rows, ...others]
}
