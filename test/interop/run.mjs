/**
 * Models go from transformers to skillgate and back: `npm run test:interop`. Needs Python; PYTHON names one that has torch and
 * transformers, else a virtual environment is made in .venv with pip.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Policy } from 'skillgate'

const TOLERANCE = 5e-5
const here = fileURLToPath(new URL('.', import.meta.url))
const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit' })

function python() {
  if (process.env.PYTHON) return process.env.PYTHON
  const venv = join(here, '../../.venv')
  const found = join(venv, 'bin/python')
  if (!existsSync(join(venv, 'ready'))) {
    run('python3', '-m', 'venv', venv)
    run(found, '-m', 'pip', 'install', '--quiet', 'torch==2.13.0', 'transformers>=5,<6')
    writeFileSync(join(venv, 'ready'), '')
  }
  return found
}

function offsets(lengths) {
  const out = [0]
  for (const length of lengths) out.push(out.at(-1) + length)
  return Int32Array.from(out)
}

const folder = mkdtempSync(join(tmpdir(), 'skillgate-interop-'))
let failed = 0
try {
  const peer = [python(), join(here, 'peer.py')]
  run(...peer, 'make', folder)
  for (const name of readdirSync(folder)) {
    const expected = JSON.parse(readFileSync(join(folder, name, 'expected.json'), 'utf8'))
    const batch = { tokens: Int32Array.from(expected.tokens), sequenceOffsets: offsets(expected.lengths) }
    const policy = await Policy.load(join(folder, name, 'model'))
    const { logprob } = await policy.logprobs(batch)
    const difference = Math.max(...logprob.map((value, i) => Math.abs(value - expected.logprob[i])))
    const good = difference < TOLERANCE
    if (!good) failed += 1
    console.log(
      `${name}: loaded, largest difference of a logprob ${difference.toExponential(2)}${good ? '' : ' FAILED'}`,
    )

    // A step, so that what is saved is not what was read.
    const first = new Set(batch.sequenceOffsets)
    const weight = Float32Array.from(batch.tokens, (_, i) => (first.has(i) ? 0 : 0.01))
    await policy.accumulate({ ...batch, advantage: new Float32Array(weight.length).fill(1), weight })
    await policy.step({ learningRate: 1e-3 })
    await policy.save(join(folder, name, 'saved'))
    const after = await policy.logprobs(batch)
    writeFileSync(
      join(folder, name, 'saved.json'),
      JSON.stringify({ tokens: expected.tokens, logprob: [...after.logprob] }),
    )
    policy.dispose()
  }
  run(...peer, 'check', folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (failed > 0) {
  console.error(`${failed} models differ by ${TOLERANCE} or more`)
  process.exitCode = 1
}
