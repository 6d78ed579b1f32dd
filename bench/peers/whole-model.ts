import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NativePolicy } from '../../lib/policy/native-policy.js'
import { timed } from '../api-cases.js'
import { type ModelShape, parameterCount, randomTokens, writeModelFolder } from '../model-folder.js'
import { type Contender, preparePeer, race } from './contender.js'
import { gated } from './gates.js'
import type { Experiment, Setting } from './setting.js'

export const modelText = (shape: ModelShape) =>
  `${shape.layers} layers, ${shape.width} wide, ${shape.heads}/${shape.keyValueHeads} heads, V ${shape.vocabulary.toLocaleString('en')}`

/** Writes the model where both sides find it; removed with the experiment. */
export async function withModel<Result>(
  setting: Setting,
  shape: ModelShape,
  options: { trainable: boolean },
  body: (policy: NativePolicy, dir: string) => Promise<Result>,
): Promise<Result> {
  const dir = join(setting.scratch, 'model')
  setting.show('writing a model with random weights')
  writeModelFolder(dir, shape)
  const policy = await NativePolicy.load(dir, { threads: setting.threads, ...options })
  try {
    return await body(policy, dir)
  } finally {
    policy.dispose()
    rmSync(dir, { recursive: true, force: true })
  }
}

export const call = (name: string, run: () => Promise<unknown>): Contender => ({
  name,
  run: () => timed(run),
})

export function save(folder: string, name: string, values: Int32Array | Float32Array): void {
  writeFileSync(
    join(folder, `${name}.bin`),
    new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  )
}

/** C4: mean cross entropy of every next token, forward and backward through all parameters. */
export function trainExperiment(shape: ModelShape, sequences: number, length: number): Experiment {
  const where = `${modelText(shape)}; ${sequences} x ${length} tokens`
  const gradients = [
    'model.embed_tokens.weight',
    'model.layers.0.self_attn.q_proj.weight',
    'model.layers.0.mlp.down_proj.weight',
    `model.layers.${shape.layers - 1}.self_attn.v_proj.weight`,
    'model.norm.weight',
  ]
  return {
    name: `train ${where}`,
    minutes: 0.5 + (sequences * length * parameterCount(shape)) / 4e10,
    run: (setting) =>
      withModel(setting, shape, { trainable: true }, async (policy, dir) => {
        const T = sequences * length
        const tokens = randomTokens(T, shape.vocabulary, 5)
        const weight = new Float32Array(T).fill(1 / (sequences * (length - 1)))
        for (let s = 0; s < sequences; s++) weight[s * length] = 0
        const sequenceOffsets = Int32Array.from({ length: sequences + 1 }, (_, s) => s * length)
        const batch = { tokens, sequenceOffsets, advantage: new Float32Array(T).fill(1), weight }
        const { logprob } = await policy.accumulate(batch)
        let loss = 0
        for (let t = 0; t < T; t++) loss -= weight[t]! * logprob[t]!
        const folder = join(setting.scratch, 'train')
        mkdirSync(folder, { recursive: true })
        save(folder, 'tokens', tokens)
        for (const name of gradients) save(folder, name, await policy.gradient(name))
        const fields = { model: dir, folder, sequences, gradients }
        setting.show('checking transformers')
        const peer = await preparePeer(setting.torch.worker, 'transformers_train', fields, { loss })
        try {
          const contenders = [peer, call('ours', () => policy.accumulate(batch))]
          const result = await race(contenders, setting)
          const flop = 6 * T * parameterCount(shape)
          const rate = result.ns('ours').map((ns) => flop / ns)
          return [
            gated('C4', {
              shape: where,
              value: result.ratio(peer.name, 'ours'),
              rounds: result.rounds,
              byCpu: result.cpuRatio(peer.name, 'ours'),
              why: `${(rate.reduce((a, b) => a + b, 0) / rate.length).toFixed(0)} GFLOP/s over all, without attention's own`,
            }),
          ]
        } finally {
          await peer.drop()
          rmSync(folder, { recursive: true, force: true })
        }
      }),
  }
}

/** C8: the prompt of a group is computed once, forward and backward. */
export function sharedPromptExperiment(
  shape: ModelShape,
  rollouts: number,
  prompt: number,
  answer: number,
): Experiment {
  const where = `${modelText(shape)}; ${rollouts} answers of ${answer} after ${prompt} tokens`
  return {
    name: `shared prompt ${where}`,
    minutes: 0.5 + ((prompt + rollouts * answer) * parameterCount(shape)) / 5e10,
    run: (setting) =>
      withModel(setting, shape, { trainable: true }, async (policy) => {
        const { vocabulary } = shape
        const start = randomTokens(prompt, vocabulary, 6)
        const answers = Array.from({ length: rollouts }, (_, r) => randomTokens(answer, vocabulary, 7 + r))
        const batch = (sequences: readonly Int32Array[], weighted: (position: number) => boolean) => {
          const tokens = Int32Array.from(sequences.flatMap((sequence) => [...sequence]))
          const sequenceOffsets = Int32Array.from([0, ...sequences.map(({ length }) => length)])
          for (let s = 1; s < sequenceOffsets.length; s++) sequenceOffsets[s]! += sequenceOffsets[s - 1]!
          const weight = Float32Array.from(
            sequences.flatMap((sequence) => Array.from(sequence, (_, i) => +weighted(i))),
          )
          return { tokens, sequenceOffsets, advantage: new Float32Array(tokens.length).fill(1), weight }
        }
        const joined = (...parts: Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]))
        const afterPrompt = (position: number) => position >= prompt
        const shared = batch(
          answers.map((tokens) => joined(start, tokens)),
          afterPrompt,
        )
        const packed = batch([joined(start, ...answers)], afterPrompt)
        const contenders = [
          call('shared', () => policy.accumulate(shared)),
          call('packed', () => policy.accumulate(packed)),
        ]
        const result = await race(contenders, setting)
        const value = result.ratio('shared', 'packed')
        const byCpu = result.cpuRatio('shared', 'packed')
        return [gated('C8', { shape: where, value, rounds: result.rounds, byCpu })]
      }),
  }
}
