import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { latestCheckpoint } from '../../lib/checkpoint/find.js'
import { skillLab } from '../../lib/environments/skill-lab/index.js'
import { ensureBuilt, root } from '../built-package.js'

beforeAll(ensureBuilt, 180_000)

/** Runs the command line in a process of its own; `watch` may signal it. */
function runProcess(
  argv: string[],
  watch: (said: string, kill: (signal: NodeJS.Signals) => void) => void = () => {},
) {
  const child = spawn(process.execPath, [join(root, 'dist/lib/cli.js'), ...argv], {
    env: { ...process.env, NO_COLOR: '' },
  })
  let said = ''
  const hear = (text: Buffer) => {
    said += text
    watch(said, (signal) => child.kill(signal))
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return new Promise<{ code: number | null; said: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, said })),
  )
}

describe('the command as a process', () => {
  it('ends with its exit codes, without colours in a pipe', async () => {
    expect((await runProcess(['--help'])).code).toBe(0)
    const wrong = await runProcess(['trian'])
    expect(wrong).toEqual({ code: 2, said: 'there is no command "trian"; did you mean "train"?\n' })
    expect((await runProcess(['doctor'])).said).toContain('instruction sets')
  })

  it('goes on where nobody reads what it says any more', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skillgate-process-'))
    await (await skillLab()).createModel(join(folder, 'model'), 0)
    const demonstration = {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
    }
    writeFileSync(join(folder, 'demonstrations.jsonl'), `${JSON.stringify(demonstration)}\n`.repeat(20))
    const paths = ['model', 'demonstrations.jsonl', 'run'].map((name) => join(folder, name))
    const words = ['--model', paths[0]!, '--demonstrations', paths[1]!, '--output', paths[2]!]
    const child = spawn(process.execPath, [
      join(root, 'dist/lib/cli.js'),
      'sft',
      ...words,
      '--batch-size',
      '1',
    ])
    child.stdout.destroy()
    child.stderr.destroy()
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
    expect((await latestCheckpoint(paths[2]!))?.step).toBe(20)
  })

  it('stopped by Ctrl-C saves the last completed step and prints the command that goes on', {
    timeout: 120_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skillgate-process-'))
    await (await skillLab()).createModel(join(folder, 'model'), 0)
    const demonstrations = Array.from({ length: 400 }, (_, i) => ({
      messages: [
        { role: 'user', content: `say ${i}` },
        { role: 'assistant', content: `it is ${i}` },
      ],
    }))
    writeFileSync(
      join(folder, 'demonstrations.jsonl'),
      demonstrations.map((d) => `${JSON.stringify(d)}\n`).join(''),
    )
    const output = join(folder, 'run')
    const argv = [
      'sft',
      '--model',
      join(folder, 'model'),
      '--demonstrations',
      join(folder, 'demonstrations.jsonl'),
    ]
    const words = [...argv, '--batch-size', '2', '--checkpoint-every', '100', '--output', output]
    let sent = false
    const { code, said } = await runProcess(words, (text, kill) => {
      if (!sent && text.includes('step   4/200')) kill('SIGINT')
      sent ||= text.includes('step   4/200')
    })
    expect(code).toBe(130)
    expect(said).toContain('stopping: saving the last completed step')
    const { step } = (await latestCheckpoint(output))!
    expect(step).toBeGreaterThanOrEqual(4)
    expect(said).toContain(`stopped after step ${step} of 200`)
    expect(said).toContain(`npx skillgate ${words.join(' ')} --resume`)
  })
})
