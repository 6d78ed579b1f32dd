import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { latestCheckpoint } from '../../lib/checkpoint/find.js'
import { createModel } from '../../lib/environments/skill-lab/model.js'
import { ensureBuilt, root } from '../built-package.js'

const folder = mkdtempSync(join(tmpdir(), 'skillgate-compare-process-'))
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  await ensureBuilt()
  await createModel(at('model'), 0)
  const tasks = Array.from(
    { length: 4 },
    (_, i) => `${JSON.stringify({ id: `t${i}`, prompt: `say ${i}` })}\n`,
  )
  writeFileSync(at('tasks.jsonl'), tasks.join(''))
  writeFileSync(
    at('agent.mjs'),
    'export default async (session, task) => {\n' +
      '  session.user(task.prompt)\n' +
      '  const { text } = await session.generate({ maxTokens: 6 })\n' +
      "  return text.split('e').length - 1\n" +
      '}\n',
  )
}, 180_000)

/** Two runs of an agent of one's own at a time; `onBegin` is given what stops them. */
function compare(steps: number, onBegin: (stop: () => void) => void = () => {}) {
  const own = [
    '--from',
    'model',
    '--agent',
    'agent.mjs',
    '--tasks',
    'tasks.jsonl',
    '--held-out',
    'tasks.jsonl',
  ]
  const size = [
    '--groups-per-step',
    '2',
    '--group-size',
    '4',
    '--kl-coefficient',
    '0',
    '--checkpoint-every',
    '100',
  ]
  const words = ['--methods', 'grpo,skillgate', '--seeds', '1', '--jobs', '2', '--steps', String(steps)]
  const file = join(root, 'dist/lib/cli.js')
  const child = spawn(process.execPath, [file, 'compare', ...own, ...size, ...words, '--output', 'out'], {
    cwd: folder,
  })
  let said = ''
  const hear = (text: Buffer) => {
    said += text
  }
  onBegin(() => child.kill('SIGINT'))
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return new Promise<{ code: number | null; said: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, said })),
  )
}

const metricsOf = (method: string) => at(`out/runs/${method}/seed-1/metrics.jsonl`)

describe('compare with a process a run', () => {
  it('stopped by Ctrl-C saves what every run has done, and the same command goes on to the end', {
    timeout: 180_000,
  }, async () => {
    const isUnderWay = (method: string) =>
      existsSync(metricsOf(method)) && readFileSync(metricsOf(method), 'utf8').split('\n').length > 3
    let timer: NodeJS.Timeout | undefined
    const first = await compare(4000, (stop) => {
      timer = setInterval(() => {
        if (!['grpo', 'skillgate'].every(isUnderWay)) return
        clearInterval(timer)
        stop()
      }, 20)
    })
    clearInterval(timer)
    expect(first.code).toBe(130)
    expect(first.said).toContain('To go on:\n  npx skillgate compare --from model')
    for (const method of ['grpo', 'skillgate']) {
      const saved = await latestCheckpoint(at(`out/runs/${method}/seed-1`))
      expect(saved!.step).toBeGreaterThanOrEqual(3)
      expect(saved!.step).toBeLessThan(4000)
    }
    const { step } = (await latestCheckpoint(at('out/runs/grpo/seed-1')))!
    const second = await compare(step + 2)
    expect(second.code).toBe(0)
    for (const method of ['grpo', 'skillgate']) {
      const record = JSON.parse(readFileSync(at(`out/runs/${method}/seed-1/result.json`), 'utf8'))
      expect(record).toMatchObject({ method, seed: 1, trials: 4 })
    }
  })

  it('says which run failed and why', { timeout: 60_000 }, async () => {
    writeFileSync(at('agent.mjs'), "export default 'no function'\n")
    const { code, said } = await compare(4000)
    expect(code).toBe(1)
    expect(said).toMatch(/ERR_RUN: the run in .*seed-1 failed: ERR_AGENT_MODULE/)
  })
})
