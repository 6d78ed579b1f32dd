import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { initialWeights } from '../../../lib/environments/skill-lab/initial-weights.js'
import { createModel } from '../../../lib/environments/skill-lab/model.js'
import { encodeSafetensors } from '../../../lib/environments/skill-lab/safetensors.js'
import { SeededRandom } from '../../../lib/environments/skill-lab/seeded-random.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skill-lab-model-'))
})
afterAll(() => rm(dir, { recursive: true }))

async function weightsOf(folder: string) {
  const bytes = await readFile(join(folder, 'model.safetensors'))
  const length = Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length))
  delete header.__metadata__
  const data = bytes.subarray(8 + length)
  const read = (name: string) => {
    const [start, end] = header[name].data_offsets
    return Float32Array.from({ length: (end - start) / 4 }, (_, i) => data.readFloatLE(start + 4 * i))
  }
  return {
    header: header as Record<string, { dtype: string; shape: number[]; data_offsets: number[] }>,
    data,
    read,
  }
}

describe('the model', () => {
  it('is a Qwen3 folder with 1 to 3 million random weights', async () => {
    const folder = join(dir, 'a')
    await createModel(folder, 7)
    expect((await readdir(folder)).sort()).toEqual([
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))
    const { header, data, read } = await weightsOf(folder)
    expect(Object.keys(header)).toHaveLength(2 + 11 * config.num_hidden_layers)
    expect(header['model.embed_tokens.weight']!.shape).toEqual([config.vocab_size, config.hidden_size])
    expect(header['model.layers.0.self_attn.k_norm.weight']!.shape).toEqual([config.head_dim])
    expect(config.num_attention_heads % config.num_key_value_heads).toBe(0)
    const last = Object.values(header).at(-1)!
    expect(last.data_offsets[1]).toBe(data.length)
    expect(data.length / 4).toBeGreaterThan(1e6)
    expect(data.length / 4).toBeLessThan(3e6)

    expect(new Set(read('model.norm.weight'))).toEqual(new Set([1]))
    const deviations = {
      embed_tokens: 0.1,
      'layers.1.self_attn.q_proj': config.hidden_size ** -0.5,
      'layers.1.mlp.gate_proj': config.hidden_size ** -0.5,
      'layers.1.mlp.down_proj': (2 * config.num_hidden_layers * config.intermediate_size) ** -0.5,
    }
    for (const [name, expected] of Object.entries(deviations)) {
      const values = read(`model.${name}.weight`)
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
      expect(Math.abs(mean) / expected, name).toBeLessThan(0.03)
      expect(deviation / expected, name).toBeCloseTo(1, 1)
    }
  })

  it('begins with an attention that copies: keys as queries, outputs with values transposed', () => {
    const config = { vocab_size: 5, hidden_size: 64, intermediate_size: 8, num_hidden_layers: 1 }
    const heads = { num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 }
    const tensors = initialWeights({ ...config, ...heads }, 3)
    const read = (name: string) => tensors.find((tensor) => tensor.name.endsWith(`${name}.weight`))!.values
    const [q, k, v, o] = ['q_proj', 'k_proj', 'v_proj', 'o_proj'].map(read) as [
      Float32Array,
      ...Float32Array[],
    ]
    const head = 16 * 64
    expect([...k!]).toEqual([...q.subarray(0, head), ...q.subarray(2 * head, 3 * head)])
    for (let h = 0; h < 4; h++) {
      let inner = 0
      let size = 0
      for (let d = 0; d < 64; d++) {
        for (let e = 0; e < 16; e++) {
          const value = v![(Math.floor(h / 2) * 16 + e) * 64 + d]!
          inner += o![d * 64 + h * 16 + e]! * value
          size += value * value
        }
      }
      expect(inner / size, `head ${h}`).toBeCloseTo(0.5, 1)
    }
  })

  it('follows from its seed, byte for byte', async () => {
    const file = async (name: string, seed: number) => {
      await createModel(join(dir, name), seed)
      return readFile(join(dir, name, 'model.safetensors'))
    }
    const [one, same, other] = [await file('b', 1), await file('c', 1), await file('d', 2)]
    expect(one.equals(same)).toBe(true)
    expect(one.equals(other)).toBe(false)
  })
})

describe('safetensors', () => {
  it('begin with an aligned header and hold the numbers in order', () => {
    const bytes = encodeSafetensors([
      { name: 'a', shape: [2, 1], values: Float32Array.of(1, -2) },
      { name: 'b', shape: [1], values: Float32Array.of(0.5) },
    ])
    const view = new DataView(bytes.buffer)
    const length = Number(view.getBigUint64(0, true))
    expect(length % 8).toBe(0)
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)))
    expect(header.a).toEqual({ dtype: 'F32', shape: [2, 1], data_offsets: [0, 8] })
    expect(header.b).toEqual({ dtype: 'F32', shape: [1], data_offsets: [8, 12] })
    expect([0, 1, 2].map((i) => view.getFloat32(8 + length + 4 * i, true))).toEqual([1, -2, 0.5])
  })

  it('refuse a shape that does not fit', () => {
    const tensor = { name: 'a', shape: [3], values: new Float32Array(2) }
    expect(() => encodeSafetensors([tensor])).toThrowError(/a: expected 3 values for the shape \[3\], got 2/)
  })
})

describe('seeded random numbers', () => {
  it('are even in [0, 1) and differ by seed and stream', () => {
    const values = Array.from(
      { length: 20_000 },
      (
        (random) => () =>
          random.uniform()
      )(new SeededRandom(1)),
    )
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...values)).toBeLessThan(1)
    for (let tenth = 0; tenth < 10; tenth++) {
      const inside = values.filter((value) => Math.floor(value * 10) === tenth).length
      expect(Math.abs(inside / values.length - 0.1)).toBeLessThan(0.01)
    }
    const firsts = [
      [0, 0],
      [0, 1],
      [1, 0],
      [2 ** 32, 0],
      [2 ** 32 + 1, 0],
    ].map(([seed, stream]) => new SeededRandom(seed!, stream).uniform())
    expect(new Set(firsts).size).toBe(5)
  })

  it('shuffle without losing anything', () => {
    const random = new SeededRandom(4)
    const items = Array.from({ length: 50 }, (_, i) => i)
    const shuffled = random.shuffled(items)
    expect(shuffled).not.toEqual(items)
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items)
    expect(() => random.pick([])).toThrowError(/at least one item/)
  })
})
