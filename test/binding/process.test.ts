import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, test } from 'vitest'
import { goldenFolder } from '../golden/tensors.js'
import { compileAddonModules } from './compiled.js'

const compiled = compileAddonModules()
afterAll(() => compiled.remove())

/** More work than any test waits for: 2,000 requests, and as many calls of each other kind. */
const prelude = `
  import { NativePolicy } from ${JSON.stringify(join(compiled.folder, 'policy/native-policy.js'))}
  import { kernels } from ${JSON.stringify(join(compiled.folder, 'addon/kernels.js'))}
  import { parentPort } from 'node:worker_threads'
  const policy = await NativePolicy.load(${JSON.stringify(join(goldenFolder, 'models', 'qwen3'))}, { threads: 2 })
  const packed = { tokens: new Int32Array(400).fill(7), sequenceOffsets: Int32Array.of(0, 400) }
  const weight = new Float32Array(400).fill(1e-3)
  weight[0] = 0
  const kinds = {
    generate: () => policy.generate({ tokens: Int32Array.of(1, 2, 3), maxTokens: 500 }),
    logprobs: () => policy.logprobs(packed),
    accumulate: () => policy.accumulate({ ...packed, advantage: weight, weight }),
    policyLoss: () => kernels.policyLoss({ hidden: weight.slice(0, 40), lmHead: weight, shape: [4, 10, 40],
      target: new Int32Array(4), advantage: weight.slice(0, 4), weight: weight.slice(0, 4) }),
  }
  const start = (kind) => { for (let i = 0; i < 2000; i++) kinds[kind]().catch(() => {}) }
`

function run(body: string) {
  const script = `${prelude}\n${body}`
  const args = ['--input-type=module', '--eval', script]
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' })
}

let scripts = 0
function startWorker(body: string) {
  const file = join(compiled.folder, `worker-${scripts++}.mjs`)
  writeFileSync(file, `${prelude}\n${body}`)
  return new Worker(file)
}

describe.each(['generate', 'logprobs', 'accumulate', 'policyLoss'])('with %s in flight', (kind) => {
  test('process.exit ends the process with its code', () => {
    const { status, signal, stderr } = run(`start('${kind}'); setTimeout(() => process.exit(7), 50)`)
    expect([stderr, signal, status]).toEqual(['', null, 7])
  })

  test('an uncaught error ends the process', () => {
    const { status, signal } = run(`start('${kind}'); setTimeout(() => { throw new Error('boom') }, 50)`)
    expect([signal, status]).toEqual([null, 1])
  })

  test('a worker can be terminated, and its neighbours go on', async () => {
    const worker = startWorker(`start('${kind}'); setTimeout(() => parentPort.postMessage('busy'), 50)`)
    await once(worker, 'message')
    await worker.terminate()
  })

  test('process.exit in a worker ends that worker', async () => {
    const worker = startWorker(`start('${kind}'); setTimeout(() => process.exit(3), 50)`)
    const [code] = await once(worker, 'exit')
    expect(code).toBe(3)
  })
})

test('a process ends by itself when nothing is in flight, disposed or not', () => {
  const { status, stdout } = run(
    `const { logprob } = await policy.logprobs(packed); console.log(logprob.length)`,
  )
  expect([stdout, status]).toEqual(['400\n', 0])
})

test('a promise in flight keeps the process going', () => {
  const { status, stdout } = run(`kinds.generate().then(({ tokens }) => console.log(tokens.length))`)
  expect([stdout, status]).toEqual(['500\n', 0])
})

test('many workers at once, each with a policy of its own, agree', async () => {
  const script = `
    const { tokens } = await policy.generate({ tokens: Int32Array.of(1, 2, 3), maxTokens: 40, seed: 5 })
    const { loss } = await kinds.policyLoss()
    parentPort.postMessage([...tokens, loss])`
  const workers = Array.from({ length: 4 }, () => startWorker(script))
  const messages = await Promise.all(workers.map((worker) => once(worker, 'message')))
  await Promise.all(workers.map((worker) => worker.terminate()))
  for (const [message] of messages) expect(message).toEqual(messages[0]![0])
})

test('policies dropped without dispose are collected, and their memory is given back', () => {
  const { status, stdout, stderr } = run(`
    const kept = []
    const loadMany = async (count, keep) => {
      for (let i = 0; i < count; i++) {
        const loaded = await NativePolicy.load(${JSON.stringify(join(goldenFolder, 'models', 'qwen3'))})
        if (keep) kept.push(loaded)
      }
      globalThis.gc?.()
      await new Promise((resolve) => setTimeout(resolve, 100))
      return process.memoryUsage.rss()
    }
    const before = await loadMany(400, false)
    const after = await loadMany(400, false)
    const held = await loadMany(400, true)
    const settled = after - before < (held - after) / 3
    console.log(settled, kept.length, settled ? '' : [before, after, held].join(' '))
  `)
  expect([stderr, stdout, status]).toEqual(['', 'true 400 \n', 0])
})
