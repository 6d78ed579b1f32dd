import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../lib/cli/commands.js'
import { describeOptions } from '../lib/config/describe.js'
import { skillLab } from '../lib/environments/skill-lab/index.js'
import { ensureBuilt, root } from './built-package.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const program = /```js\n([^`]*)```/.exec(readme)![1]!

describe('README', () => {
  beforeAll(ensureBuilt, 180_000)

  it('holds a program that runs as it stands, but for its size', { timeout: 120_000 }, async () => {
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(21)
    const folder = mkdtempSync(join(tmpdir(), 'skillgate-readme-'))
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules', 'skillgate'))
    cpSync(join(root, 'examples/own-skills/skills'), join(folder, 'skills'), { recursive: true })
    await (await skillLab()).createModel(join(folder, 'models/Qwen3-0.6B'), 0)
    const tasks = [1, 2, 3].map((n) => ({
      id: `t${n}`,
      prompt: `Spell ${n}.`,
      oracle: ['spelling'],
      expected: 'e',
    }))
    writeFileSync(join(folder, 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
    const sizes = 'steps: 1, groupsPerStep: 1, groupSize: 2, maxTurns: 2, maxTokensPerTurn: 8'
    expect(program).toContain('steps: 100')
    writeFileSync(join(folder, 'program.mjs'), program.replace('steps: 100', sizes))
    const said = execFileSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' })
    const checkpoint = said.trim().split('\n').at(-1)!
    expect(checkpoint).toBe('runs/first/checkpoints/step-000001')
    expect(existsSync(join(folder, checkpoint, 'model', 'model.safetensors'))).toBe(true)
  })

  it('names only commands, options, methods and files that there are', () => {
    for (const [, name, words] of readme.matchAll(/npx skillgate (\w+)([^\n#]*)/g)) {
      const command = commands.find((candidate) => candidate.name === name)!
      expect(command, name).toBeDefined()
      const flags = ['--help', ...describeOptions(command.options?.shape ?? {}).map(({ flag }) => flag)]
      for (const [flag] of words!.matchAll(/--[\w-]+/g)) expect(flags).toContain(flag)
    }
    for (const [, path] of readme.matchAll(/\]\(([\w./-]+)\)/g))
      expect(existsSync(join(root, path!)), path).toBe(true)
  })
})
