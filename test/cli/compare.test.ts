import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createModel } from '../../lib/environments/skill-lab/model.js'
import { commandLine } from './command-line.js'

const folder = mkdtempSync(join(tmpdir(), 'skillgate-compare-'))
const model = join(folder, 'model')
const output = join(folder, 'out')
beforeAll(() => createModel(model, 0))

/** As little of everything as there can be. */
const compare = (...more: string[]) =>
  commandLine(
    ...['compare', '--from', model, '--methods', 'sft,grpo,skillgate', '--seeds', '0,3', '--output', output],
    ...[
      '--steps',
      '1',
      '--groups-per-step',
      '1',
      '--group-size',
      '2',
      '--over-sampling',
      '1',
      '--max-turns',
      '2',
    ],
    ...[
      '--max-tokens-per-turn',
      '16',
      '--kl-coefficient',
      '0',
      '--eval-tasks',
      '2',
      '--threads',
      '1',
      ...more,
    ],
  )

describe('skillgate compare', () => {
  it('plays every method and seed, writes tables and figures, and does nothing twice', async () => {
    const first = await compare()
    expect(first.err).toBe('')
    expect(first.code).toBe(0)
    expect(first.out).toContain('6 runs; 1 at a time')
    for (const method of ['sft', 'grpo', 'skillgate']) expect(first.out).toMatch(new RegExp(`${method} +2 `))
    const { variants, baseline } = JSON.parse(readFileSync(join(output, 'comparison.json'), 'utf8'))
    expect(baseline).toBe('grpo')
    expect(variants.map(({ seeds }: { seeds: number[] }) => seeds)).toEqual([
      [0, 3],
      [0, 3],
      [0, 3],
    ])
    expect(existsSync(join(output, 'runs/grpo/seed-3/checkpoints/step-000001/model/model.safetensors'))).toBe(
      true,
    )
    expect(existsSync(join(output, 'runs/sft/seed-3/checkpoints'))).toBe(false)
    const page = readFileSync(join(output, 'comparison.md'), 'utf8')
    const figures = readdirSync(join(output, 'figures'))
    expect(figures.length).toBeGreaterThanOrEqual(8)
    for (const name of figures) expect(page).toContain(`figures/${name}`)

    const record = join(output, 'runs/grpo/seed-0/result.json')
    const written = statSync(record).mtimeMs
    const second = await compare()
    expect(second.out).toContain('6 of them finished already')
    expect(statSync(record).mtimeMs).toBe(written)
  })

  it('refuses to go on with other options than a run was begun with', async () => {
    const { code, err } = await compare('--learning-rate', '0.5')
    expect(code).toBe(1)
    expect(err).toContain('learningRate')
  })

  it('says at once what is wrong with its options', async () => {
    const { code, err } = await commandLine(
      'compare',
      '--methods',
      'grpo,gpro',
      '--seeds',
      '1,1',
      '--jobs',
      '0',
    )
    expect(code).toBe(2)
    for (const option of ['--methods', 'seeds', '--jobs']) expect(err).toContain(option)
    const own = await commandLine('compare', '--agent', 'agent.mjs')
    expect(own.err).toContain('from: expected the model folder')
    const both = await commandLine('compare', '--from', model, '--own-starts')
    expect(both.err).toContain('--own-starts: expected starts that are taught on skill-lab')
  })
})
