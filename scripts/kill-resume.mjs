// Kills runs of the real command line with SIGKILL at random moments, resumes them, and compares the final weights, metrics and
// trajectories with those of a run that was left alone: node scripts/kill-resume.mjs [--kills 20] [--seed 1]
// [--recipe train|sft|selection-bc|selection-dpo]
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { skillLab } from 'skillgate'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    recipe: { type: 'string', default: 'train' },
  },
})
const kills = Number(values.kills)
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'skillgate-kill-'))
const model = join(folder, 'model')
const lab = await skillLab({ seed: 0 })
await lab.createModel(model, 0)

const agent = join(folder, 'agent.mjs')
writeFileSync(
  agent,
  `export default async function agent(session, task) {
  session.user(task.prompt)
  let reward = 0
  for (let i = 0; i < 2; i++) {
    const turn = await session.generate({ maxTokens: 12 })
    reward += [...turn.text].filter((character) => 'aeiou'.includes(character)).length
    session.user('and more?')
  }
  return reward
}
`,
)
const lines = (records) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
writeFileSync(
  join(folder, 'tasks.jsonl'),
  lines(Array.from({ length: 9 }, (_, i) => ({ id: `t${i}`, prompt: `task ${i}` }))),
)
writeFileSync(join(folder, 'demonstrations.jsonl'), lines(lab.demonstrations(24, 0)))

const shared = { model, learningRate: 1e-3, checkpointEvery: 2, keepLast: 2, warmupSteps: 2 }
const selection = {
  ...shared,
  environment: 'skill-lab',
  steps: 6,
  groupsPerStep: 2,
  evalEvery: 3,
  evalTasks: 2,
  maxTokensPerTurn: 8,
}
const configs = {
  train: {
    ...shared,
    agent,
    tasks: 'tasks.jsonl',
    steps: 8,
    groupsPerStep: 2,
    groupSize: 4,
    evalEvery: 4,
    heldOut: 'tasks.jsonl',
    evalTasks: 4,
    keepBest: 'reward',
  },
  sft: {
    ...shared,
    demonstrations: 'demonstrations.jsonl',
    epochs: 2,
    batchSize: 4,
    heldOut: 'demonstrations.jsonl',
    evalEvery: 5,
  },
  'selection-bc': selection,
  'selection-dpo': selection,
}
writeFileSync(join(folder, 'config.json'), JSON.stringify(configs[values.recipe]))

/** Runs to its end or for `milliseconds`; returns whether it came to its end. */
function run(output, resume, milliseconds) {
  const words = [
    join(root, 'dist/lib/cli.js'),
    values.recipe,
    '--config',
    join(folder, 'config.json'),
    '--output',
    output,
  ]
  const child = spawn(process.execPath, resume ? [...words, '--resume'] : words, {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (text) => (said += text))
  child.stderr.on('data', (text) => (said += text))
  const timer = milliseconds === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), milliseconds)
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) resolve(true)
      else if (signal === 'SIGKILL') resolve(false)
      else reject(new Error(`expected the run to end with 0, got ${code ?? signal}:\n${said}`))
    })
  })
}

/** What a run is to leave behind, times left out. */
function traceOf(output) {
  const hash = (path) => createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)
  const checkpoints = readdirSync(join(output, 'checkpoints')).sort()
  const last = join(output, 'checkpoints', checkpoints.at(-1))
  const metrics = readFileSync(join(output, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const timeless = metrics.map((record) =>
    Object.entries(record).filter(([name]) => !/seconds|PerSecond/i.test(name)),
  )
  const trajectories = values.recipe === 'train' ? readdirSync(join(output, 'trajectories')).sort() : []
  return JSON.stringify({
    checkpoints,
    weights: hash(join(last, 'model', 'model.safetensors')),
    moments: hash(join(last, 'optimizer.safetensors')),
    metrics: timeless,
    trajectories: trajectories.map((name) => [name, hash(join(output, 'trajectories', name))]),
  })
}

let state = Number(values.seed) >>> 0
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 4294967296
}

const begun = Date.now()
await run(join(folder, 'whole'), false)
const whole = Date.now() - begun
const expected = traceOf(join(folder, 'whole'))

let killed = 0
let runs = 0
while (killed < kills) {
  const output = join(folder, `run-${++runs}`)
  for (let resume = false; ; resume = true) {
    const done = await run(output, resume, killed < kills ? random() * whole * 1.05 : undefined)
    if (done) break
    killed += 1
  }
  const got = traceOf(output)
  if (got !== expected) {
    console.error(
      `after ${killed} kills, run ${runs} differs from the one left alone:\n${expected}\n${got}\n(${folder})`,
    )
    process.exit(1)
  }
  rmSync(output, { recursive: true })
}
rmSync(folder, { recursive: true })
console.log(`${killed} kills in ${runs} runs of ${values.recipe}: each run ended as the one left alone`)
