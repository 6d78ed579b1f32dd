// A short skill-lab run with device 'cuda' on the emulated device, beside the same run on the CPU. Wants an addon built with
// SKILLGATE_CUDA=EMULATED and `npm run build:ts`:
//   node test/emulation/skill-lab-run.mjs [--hardware]    with an addon for a real GPU
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initialWeights } from '../../dist/lib/environments/skill-lab/initial-weights.js'
import { encodeSafetensors } from '../../dist/lib/environments/skill-lab/safetensors.js'
import { evaluate, Policy, skillLab, train } from '../../dist/lib/index.js'

const STEPS = 2
const device = process.argv.includes('--hardware') ? '' : 'Emulated GPU'
const folder = mkdtempSync(join(tmpdir(), 'skillgate-emulated-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const model = join(folder, 'model')
const lab = await skillLab({ seed: 1, slateSize: 4 })

/** The environment's tokenizer with a network of a few thousand weights. */
async function makeModel() {
  await lab.createModel(model, 1)
  const file = join(model, 'config.json')
  const config = {
    ...JSON.parse(readFileSync(file, 'utf8')),
    ...{ hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2 },
    ...{ num_attention_heads: 2, num_key_value_heads: 1, head_dim: 16 },
  }
  writeFileSync(file, JSON.stringify(config))
  writeFileSync(join(model, 'model.safetensors'), encodeSafetensors(initialWeights(config, 1)))
}

/** The environment's agent. Random weights solve nothing: what sets their rewards apart is how many letters they know. */
async function agent(session, task) {
  const letters = new Set()
  const watched = new Proxy(session, {
    get(target, name) {
      const value = target[name]
      if (name !== 'generate') return typeof value === 'function' ? value.bind(target) : value
      return async (options) => {
        const turn = await target.generate({ ...options, maxTokens: 12 })
        for (const letter of turn.text) letters.add(letter)
        return turn
      }
    },
  })
  const outcome = await lab.agent(watched, task)
  return { ...outcome, reward: outcome.reward + letters.size / 100 }
}

/** What of a step's figures does not depend on the device but for rounding. */
const compared = ['reward', 'loss', 'negativeLogprob', 'gradNorm', 'entropy', 'kl', 'sampledTokens', 'tokens']

/** Opens policies on one engine: with precision and products that `train` leaves to the device. */
const open =
  (engine) =>
  (dir, { trainable, recompute }) =>
    Policy.load(dir, { trainable, recompute, ...engine })

async function run(name, engine, more = {}) {
  const began = Date.now()
  let description
  const output = join(folder, name)
  const result = await train({
    ...{ model, output, agent, tasks: lab.trainTasks, skills: lab.skills, seed: 3, onEvent: () => {} },
    ...{ steps: STEPS, groupsPerStep: 2, groupSize: 3, dynamicSampling: false, klCoefficient: 1e-3 },
    ...{ learningRate: 1e-3, maxTurns: 2, maxTokens: 1024, checkpointEvery: 1, device: engine.device },
    openPolicy: async (dir, options) => {
      const policy = await open(engine)(dir, options)
      description = policy.deviceDescription
      return policy
    },
    ...more,
  })
  const lines = (file) => readFileSync(join(output, file), 'utf8').trim().split('\n').map(JSON.parse)
  const steps = lines('metrics.jsonl').filter(({ type }) => type === 'step')
  const files = readdirSync(join(output, 'trajectories')).sort()
  const sequences = files.flatMap((file) =>
    lines(join('trajectories', file)).flatMap(({ sequences }) => sequences),
  )
  console.log(`${name}: ${description}; to step ${result.step}: ${(Date.now() - began) / 1000} s`)
  return { result, description, steps, sequences }
}

async function weightsOf({ result }) {
  const policy = await Policy.load(join(result.checkpoint, 'model'), { device: 'cpu', trainable: false })
  const weights = []
  for (const { name } of policy.parameters) weights.push(...(await policy.parameter(name)))
  policy.dispose()
  return weights
}

/** |a - b| / |b| */
function distance(a, b) {
  const length = (values) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0))
  return length(a.map((x, i) => x - b[i])) / length(b)
}

function expectNear(what, got, wanted, tolerance) {
  const apart = Math.abs(got - wanted) / Math.max(Math.abs(wanted), 1e-4)
  assert(apart <= tolerance, `${what}: expected ${wanted} to within ${tolerance} of it, got ${got}`)
}

await makeModel()
const once = await run('cpu', { device: 'cpu' }, { steps: 1 })
const cpu = await run('cpu', { device: 'cpu' }, { resume: true })

// In fp32 the same tokens are sampled, and everything is the same but for the order of sums.
const fp32 = { device: 'cuda', precision: 'fp32' }
const exact = await run('cuda-fp32', fp32)
assert.match(exact.description, new RegExp(`^${device}.* fp32`))
assert.deepEqual(
  exact.sequences.map(({ tokens }) => tokens),
  cpu.sequences.map(({ tokens }) => tokens),
)
assert.equal(exact.steps.length, STEPS)
for (const [i, step] of exact.steps.entries()) {
  for (const name of compared) expectNear(`step ${i + 1}: ${name}`, step[name], cpu.steps[i][name], 1e-5)
}
const weights = await weightsOf(cpu)
const moved = distance(weights, await weightsOf(once))
const apart = distance(await weightsOf(exact), weights)
console.log(`a step moves the weights by ${moved}; the devices are ${apart} apart`)
assert(moved > 1e-3 && apart < 1e-5)

// In bf16, as runs have it: other tokens here and there, the same distribution; the run stops after a step and goes on.
const bf16 = { device: 'cuda', precision: 'bf16', ...(device && { cublaslt: 'off' }) }
await run('cuda-bf16', bf16, { steps: 1 })
const rounded = await run('cuda-bf16', bf16, { resume: true })
assert.match(rounded.description, new RegExp(`^${device}.* bf16`))
for (const [i, step] of rounded.steps.entries()) {
  for (const name of ['entropy', 'negativeLogprob']) {
    expectNear(`bf16, step ${i + 1}: ${name}`, step[name], cpu.steps[i][name], 0.05)
  }
  assert(step.gradNorm > 0 && step.steps === 1)
}
assert.equal(rounded.steps.length, STEPS)

const measured = await evaluate({
  ...{ model: join(rounded.result.checkpoint, 'model'), agent, tasks: lab.heldOutTasks, skills: lab.skills },
  ...{
    maxTasks: 2,
    trials: 1,
    maxTurns: 1,
    maxTokens: 1024,
    temperature: 1,
    device: 'cuda',
    onEvent: () => {},
  },
})
assert.equal(measured.trials, 2)
assert.deepEqual(measured.failed, {})
console.log('1 passed, 0 failed')
