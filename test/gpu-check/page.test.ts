import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const script = (name: string) => import(new URL(`../../scripts/gpu-check/${name}.mjs`, import.meta.url).href)
const { fileNameOf, gpuPage } = await script('page')
const { parseGpu } = await script('device')
const { measure } = await script('measure')
const { deadline, MissingError } = await script('command')
const { tensorsOf, writeModelFolder } = await script('model-folder')

const scratch = mkdtempSync(join(tmpdir(), 'skillgate-gpu-check-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Invented for this test; no GPU gave them. */
const record = {
  date: '2000-01-01',
  gpu: { name: 'Test GPU 1', architecture: '90a', driver: '1.2.3', memoryMiB: 12_345 },
  outcomes: [{ check: 'op cases and golden files', result: '9 passed, 0 failed', seconds: 1.25 }],
  loss: [
    {
      ...{ T: 8, D: 16, V: 512, products: 'cuBLASLt 13.0.2', tripleSeconds: 0.009, updateSeconds: 0.01 },
      ...{
        tripleOverUpdate: 0.9,
        updateFlops: 3e12,
        rowKernelBytesPerSecond: 2e12,
        copyBytesPerSecond: 2.5e12,
      },
      rowKernelOverCopy: 0.8,
    },
  ],
  torch: [{ version: '2.9', T: 8, D: 16, V: 512, eagerSeconds: 0.04, compiledError: 'no compiler' }],
  update: [
    {
      ...{ model: '0.6B', sequences: 2, length: 4, passSeconds: 0.5, stepSeconds: 0.25 },
      ...{ tokensPerSecond: 12_345.6, residentBytes: 3 * 2 ** 30 },
    },
  ],
  decode: [
    {
      model: '8B',
      sequences: 4,
      length: 8,
      secondsPerToken: 0.002,
      tokensPerSecond: 2000,
      residentBytes: 2 ** 30,
    },
  ],
  missing: ['decode 8B: no time was left'],
}

describe('the page of a GPU', () => {
  it('has every figure of the record', () => {
    const page = gpuPage(record)
    expect(page).toContain('# Test GPU 1\n')
    expect(page).toContain('| op cases and golden files | 9 passed, 0 failed | 1.3 |')
    expect(page).toContain(
      '| 8 | 16 | 512 | cuBLASLt 13.0.2 | 9.0 | 10.0 | 90.0% | 3.00 | 2.00 | 2.50 | 80.0% |',
    )
    expect(page).toContain('| 8 | 16 | 512 | PyTorch 2.9 eager | 40.0 | 4.00x |')
    expect(page).toContain('| 8 | 16 | 512 | PyTorch 2.9 compiled | no compiler |  |')
    expect(page).toContain('| 0.6B | 2 x 4 | 500.0 | 250.0 | 12,346 | 3.0 |')
    expect(page).toContain('| 8B | 4 | 8 | 2.0 | 2,000 | 1.0 |')
    expect(page).toContain('## Not measured\n\n- decode 8B: no time was left\n')
  })

  it('leaves out what was not measured', () => {
    const page = gpuPage({ ...record, torch: [], decode: [], missing: [] })
    expect(page).not.toMatch(/PyTorch|Decoding|Not measured/)
  })

  it('is named after the device', () => {
    expect(fileNameOf({ name: 'NVIDIA H200' })).toBe('nvidia-h200')
    expect(fileNameOf({ name: '(A100-SXM4 80GB)' })).toBe('a100-sxm4-80gb')
  })
})

describe('the device', () => {
  it('is the first that nvidia-smi lists', () => {
    const h200 = { name: 'NVIDIA H200', architecture: '90a', driver: '580.1', memoryMiB: 143_771 }
    expect(parseGpu('NVIDIA H200, 9.0, 580.1, 143771\nNVIDIA A100, 8.0, 580.1, 81920\n')).toEqual(h200)
    expect(parseGpu('NVIDIA A100, 8.0, 580.1, 81920')).toMatchObject({ architecture: '80' })
  })
  it('is missing where it lists none', () => {
    expect(() => parseGpu('No devices were found')).toThrow(MissingError)
  })
})

describe('a machine without a GPU', () => {
  const check = new URL('../../scripts/gpu-check.mjs', import.meta.url).pathname
  const build = new URL('../../build-gpu', import.meta.url).pathname
  const runWith = (path: string) =>
    spawnSync(process.execPath, [check], { env: { PATH: path }, encoding: 'utf8' })

  it('is told what is missing, and nothing is built or written', () => {
    const before = existsSync(build)
    expect(runWith('/nowhere')).toMatchObject({
      status: 2,
      stderr: 'gpu-check: no GPU to check: nvidia-smi was not found, so there is no NVIDIA driver\n',
    })
    writeFileSync(join(scratch, 'nvidia-smi'), '#!/bin/sh\necho no devices were found\nexit 6\n', {
      mode: 0o755,
    })
    expect(runWith(scratch)).toMatchObject({
      status: 2,
      stderr: 'gpu-check: no GPU to check: nvidia-smi: no devices were found\n',
    })
    expect(existsSync(build)).toBe(before)
  })
})

describe('measuring', () => {
  const config = {
    ...{ vocab_size: 64, hidden_size: 8, intermediate_size: 16, head_dim: 4, num_hidden_layers: 2 },
    ...{ num_attention_heads: 2, num_key_value_heads: 1, tie_word_embeddings: true },
  }

  it('keeps what the benchmarks print and names what failed', async () => {
    const asked: string[][] = []
    const run = Object.assign(
      async (command: string, args: string[]) => {
        asked.push([command, ...args])
        if (args[0] === 'decode') throw new Error('out of memory\nat once\nand more')
        return `noise\n${JSON.stringify({ asked: args.length })}\n`
      },
      { left: () => 100 },
    )
    const shapes = {
      loss: [{ T: 8, D: 16, V: 512, rounds: 1 }],
      update: [{ name: 'tiny', config, sequences: 2, length: 4 }],
      decode: [{ name: 'tiny', config, sequences: 2, length: 4, tokens: 3 }],
    }
    const results = await measure({ run, scratch, bench: 'gpu_bench', shapes })
    expect(asked[0]).toEqual(['gpu_bench', 'policy_loss', '8', '16', '512', '1'])
    expect(results).toMatchObject({
      loss: [{ asked: 5 }],
      torch: [{ asked: 4 }],
      update: [{ model: 'tiny', asked: 4 }],
      decode: [],
      missing: ['decode tiny, 2 at a time: out of memory at once'],
    })
    const late = Object.assign(run, { left: () => 5 })
    expect((await measure({ run: late, scratch, bench: 'gpu_bench', shapes })).missing).toHaveLength(4)
  })

  it('stops what takes too long and says what a failed command printed', async () => {
    const run = deadline(60)
    await expect(run('sh', ['-c', 'echo out; echo err >&2; exit 3'])).rejects.toThrow(
      /ended with 3\nout\n\nerr/,
    )
    await expect(run('sleep', ['30'], { seconds: 0.1 })).rejects.toThrow(/took more than/)
    await expect(deadline(0)('true', [])).rejects.toThrow(/no time left/)
  })

  it('writes a model folder with all tensors end to end', () => {
    writeModelFolder(scratch, config)
    const file = join(scratch, 'model.safetensors')
    const bytes = readFileSync(file)
    const length = Number(bytes.readBigUInt64LE(0))
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString())
    const ends = Object.values(header).map((entry) => (entry as { data_offsets: number[] }).data_offsets[1]!)
    expect(statSync(file).size).toBe(8 + length + Math.max(...ends))
    expect(Object.keys(header)).toHaveLength(tensorsOf(config).length)
    expect(header['model.layers.1.self_attn.k_proj.weight']).toMatchObject({ dtype: 'BF16', shape: [4, 8] })
  })
})
