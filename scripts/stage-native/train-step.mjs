// Runs where skillgate is installed: makes a small model, trains it for two steps, and repeats that in a worker thread meanwhile.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { diagnose, Policy, skillLab } from 'skillgate'

/** The loss before each of two steps on one sequence, and after them. */
async function trainedLosses() {
  const folder = mkdtempSync(join(tmpdir(), 'skillgate-train-'))
  try {
    await (await skillLab()).createModel(folder, 1)
    const policy = await Policy.load(folder, { device: 'cpu' })
    const tokens = Int32Array.from({ length: 24 }, (_, i) => (i * 37) % 500)
    const weight = Float32Array.from(tokens, (_, i) => (i === 0 ? 0 : 1 / 23))
    const batch = { tokens, sequenceOffsets: Int32Array.of(0, 24), advantage: weight.map(() => 1) }
    const losses = []
    for (let step = 0; step < 3; step++) {
      const { logprob } = await policy.accumulate({ ...batch, weight, klWeight: weight.map(() => 0) })
      losses.push(-logprob.reduce((sum, value, i) => sum + value * weight[i], 0))
      if (step < 2) assert.equal((await policy.step({ learningRate: 1e-3 })).skipped, false)
    }
    policy.dispose()
    return losses
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (isMainThread) {
  const inWorker = new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url)).on('message', resolve).on('error', reject)
  })
  const [main, worker] = await Promise.all([trainedLosses(), inWorker])
  const { addon, cudaBackend } = diagnose()
  console.log(`${addon.file}\ncuda: ${cudaBackend.text}`)
  console.log(
    `loss in the main thread ${main.map((loss) => loss.toFixed(4))}, in a worker ${worker.map((loss) => loss.toFixed(4))}`,
  )
  assert.deepEqual(worker, main)
  assert(main[1] < main[0] && main[2] < main[1], 'the loss does not fall')
} else {
  parentPort.postMessage(await trainedLosses())
}
