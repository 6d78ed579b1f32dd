import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commands } from '../../lib/cli/commands.js'
import { resumeCommand } from '../../lib/cli/interrupt.js'
import { describeOptions } from '../../lib/config/describe.js'
import { commandLine } from './command-line.js'

const folder = mkdtempSync(join(tmpdir(), 'skillgate-cli-'))

function fileWith(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('help', () => {
  it('lists every command', async () => {
    for (const argv of [['--help'], ['-h'], ['help']]) {
      const { code, out } = await commandLine(...argv)
      expect(code).toBe(0)
      for (const { name, summary } of commands)
        expect(out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'))
    }
    expect((await commandLine()).code).toBe(2)
  })

  it.each(commands.map((command) => [command.name, command] as const))(
    'of %s names every option with its default, and is no wider than a terminal of 100',
    async (name, command) => {
      const { code, out } = await commandLine(name, '--help')
      expect(code).toBe(0)
      expect(out).toContain(command.usage)
      for (const line of out.split('\n'))
        if (!line.startsWith('skillgate')) expect(line.length).toBeLessThanOrEqual(100)
      for (const option of describeOptions(command.options?.shape ?? {})) {
        const line = out.split('\n').find((text) => text.trim().split(' ')[0] === option.flag)
        if (option.programOnly) {
          expect(line).toBeUndefined()
          continue
        }
        expect(line, option.flag).toBeDefined()
        if (option.default !== undefined && !Array.isArray(option.default))
          expect(line).toContain(`default: ${option.default}]`)
        if (option.required) expect(line).toContain('[required]')
      }
    },
  )

  it('shows range and unit', async () => {
    const { out } = await commandLine('train', '--help')
    expect(out).toContain('--group-size <number> (rollouts)  [default: 8]')
    expect(out).toContain('an integer from 2 to 1024')
    expect(out).toContain('--rollout-deadline <number> (seconds)  [default: 850]')
    expect(out).toContain('--betas <a,b>  [default: 0.9,0.98]')
  })
})

describe('wrong use', () => {
  it('of a command names the nearest', async () => {
    const { code, err, out } = await commandLine('trian')
    expect({ code, err, out }).toEqual({
      code: 2,
      err: 'there is no command "trian"; did you mean "train"?\n',
      out: '',
    })
    expect((await commandLine('quantum')).err).toContain(
      `commands: ${commands.map(({ name }) => name).join(', ')}`,
    )
  })

  it('of options names all of it at once, under the names that were written', async () => {
    const config = fileWith('run.yaml', 'groupSize: many\nlerningRate: 1\nsteps: 5\n')
    const { code, err } = await commandLine(
      'train',
      '--model',
      'm',
      '--config',
      config,
      '--gropus-per-step',
      '3',
      '--top-p',
      '0.7',
      '--seed',
    )
    expect(code).toBe(2)
    const lines = err.split('\n')
    expect(lines[0]).toBe('ERR_CONFIG: 8 problems in the options of train:')
    for (const text of [
      '--seed: expected an integer of at least 0 after it, got nothing',
      '--gropus-per-step: there is no such option; did you mean --groups-per-step?',
      'lerningRate: there is no such option; did you mean "learningRate"?',
      'groupSize: expected an integer from 2 to 1024 (rollouts), got "many" (text)',
      '--top-p: expected 1 (a smaller one samples from another distribution than the one the loss is computed for), got 0.7',
      '--agent: expected an async function (session, task) => reward, or the path of a module that exports one as default, got nothing',
      '--tasks: expected the path of a JSONL file, or an array of tasks, got nothing',
      '--output: expected the path of a folder, got nothing',
    ]) {
      expect(err).toContain(text)
    }
    expect(lines.at(-2)).toBe('skillgate train --help lists the options')
  })

  it.each([
    [['sft', 'stray'], 'stray: expected an option, got a word by itself'],
    [
      ['eval', '--environment', 'skill-lib'],
      '--environment: expected one of skill-lab, got "skill-lib" (text)',
    ],
    [['show'], 'source: expected one run folder or trajectory file, got none'],
    [['show', 'a', 'b'], 'got 2'],
    [['doctor', '--all'], '--all: there is no such option'],
    [['train', '--config', join(folder, 'none.json')], 'cannot read the config file'],
  ])('%j says why', async (argv, text) => {
    const { code, err } = await commandLine(...argv)
    expect(code).toBe(2)
    expect(err).toContain(text)
  })

  it('that is found later ends with 1', async () => {
    const { code, err } = await commandLine('show', join(folder, 'nothing-here'))
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('ERR_TRAJECTORIES') })
    const argv = [
      'sft',
      '--model',
      folder,
      '--demonstrations',
      join(folder, 'none.jsonl'),
      '--output',
      join(folder, 'run'),
    ]
    expect(await commandLine(...argv)).toMatchObject({
      code: 1,
      err: expect.stringContaining('ERR_DEMONSTRATIONS'),
    })
  })
})

describe('the command that goes on', () => {
  it('is the one that was stopped, with --resume once, quoted for a shell', () => {
    expect(resumeCommand(['train', '--output', 'runs/a b', '--resume', '--seed=3'])).toBe(
      "npx skillgate train --output 'runs/a b' --seed=3 --resume",
    )
    expect(resumeCommand(['train', '--model', "it's"])).toBe(
      "npx skillgate train --model 'it'\\''s' --resume",
    )
  })
})
