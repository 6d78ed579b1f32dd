import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseFlags } from '../../lib/cli/flags.js'
import { compareOptions } from '../../lib/compare/options.js'
import { trialFigures } from '../../lib/compare/trial-figures.js'
import { inspectOptions } from '../../lib/config/check.js'
import { writeTrajectories } from '../../lib/rollout/trajectory-file.js'
import { ensureBuilt, root } from '../built-package.js'
import { groupOf, trial } from '../compare/trials.js'
import { groupOf as creditGroup } from '../credit/group-of.js'

interface Setting {
  folder: string
  lab: object
  x?: number
  methods: string[]
  seeds: number[]
  borrowed?: boolean
  options: { groupSize?: number; groupsPerStep?: number }
}
type Parts = Record<string, { settings: Setting[] }>

// Plain JavaScript that runs on the compiled package.
const load = async (name: string) => import(join(root, 'scripts', 'reproduce', `${name}.mjs`))
beforeAll(ensureBuilt, 180_000)

async function plan(): Promise<{ parts: Parts; settings: Setting[]; extra: Setting[] }> {
  const { parts, extras } = await load('plan')
  const [settings, extra] = [parts, extras].map((some: Parts) =>
    Object.values(some).flatMap((part) => part.settings),
  )
  return { parts, settings: settings!, extra: extra! }
}

describe('the plan', () => {
  it('has a folder for each setting that is run, and borrows only runs that another part makes', async () => {
    const { parts, settings } = await plan()
    const own = settings.filter(({ borrowed }) => !borrowed)
    expect(new Set(own.map(({ folder }) => folder)).size).toBe(own.length)
    const [main] = parts.main!.settings
    expect(main!.seeds.length).toBeGreaterThanOrEqual(5)
    for (const { folder, methods, seeds } of settings.filter(({ borrowed }) => borrowed)) {
      const lender = own.find((setting) => setting.folder === folder)!
      expect(lender.methods).toEqual(expect.arrayContaining(methods))
      expect(lender.seeds).toEqual(expect.arrayContaining(seeds))
    }
  })

  it('has experiments beyond it whose runs in its folders are the same runs', async () => {
    const { settings, extra } = await plan()
    for (const { folder, lab, options } of extra) {
      const planned = settings.find((setting) => setting.folder === folder)
      if (planned) expect({ lab, options }).toEqual({ lab: planned.lab, options: planned.options })
    }
    expect(extra.some(({ folder }) => settings.every((setting) => setting.folder !== folder))).toBe(true)
  })

  it('keeps the rollouts of a step the same, whatever the size of a group', async () => {
    const { parts } = await plan()
    for (const { options, borrowed } of parts.groups!.settings)
      if (!borrowed) expect(options.groupSize! * options.groupsPerStep!).toBe(64)
  })

  it('shows commands that the command line takes', async () => {
    const { commandOf } = await load('specs')
    const { settings, extra } = await plan()
    for (const setting of [...settings, ...extra].filter(({ borrowed }) => !borrowed)) {
      const words = (commandOf('runs', setting) as string).split(' ').slice(3)
      const { options, problems } = parseFlags(compareOptions.shape, words)
      expect([...problems, ...inspectOptions(compareOptions, options).problems]).toEqual([])
      expect(options).toMatchObject({ methods: setting.methods, ...setting.options })
    }
  })
})

describe('the page', () => {
  const runs = mkdtempSync(join(tmpdir(), 'skillgate-page-'))
  const write = (folder: string, method: string, seed: number, succeeds: number) => {
    const output = join(runs, folder, 'runs', method, `seed-${seed}`)
    mkdirSync(output, { recursive: true })
    const groups = Array.from({ length: 10 }, (_, i) =>
      groupOf(i < succeeds ? trial(`t${i}`, 1, ['oracle']) : trial(`t${i}`, 0, ['misleading'])),
    )
    const record = {
      ...{ fingerprint: 'f', method, seed, steps: 2, threads: 1, finishedAt: '2026-01-01T00:00:00.000Z' },
      ...{ ...trialFigures(groups), seconds: { training: 60, evaluation: 5 } },
    }
    writeFileSync(join(output, 'result.json'), JSON.stringify(record))
    // The audit of what it trained on, so that no trajectories are needed.
    const shares = { generatedMedian: 90, callShareMedian: 0.2, identityShareMedian: 0.02 }
    const gaps = { oracleNegativeRate: 0.25, advantageGapMean: 1.5, value: { mean: 0.4 } }
    writeFileSync(join(output, 'audit.json'), JSON.stringify({ ...shares, ...gaps }))
    const steps = [0, 0.2].map((more, i) => {
      const reads = { oracleRead: succeeds / 10 - more, misleadingRead: more }
      const groups = { draws: 10 + i, credit: { groups: 8 } }
      return JSON.stringify({ type: 'step', step: i + 1, reward: succeeds / 10, ...reads, ...groups })
    })
    writeFileSync(join(output, 'metrics.jsonl'), steps.map((line) => `${line}\n`).join(''))
    // And its evaluations on new and on held-out tasks.
    const where = (value: number) => ({ success: value / 20, oracleRead: value / 10, misleadingRead: 0 })
    writeFileSync(
      join(output, 'where.json'),
      JSON.stringify({ fresh: where(succeeds), heldOut: where(succeeds / 2) }),
    )
  }

  it('is made of what there is, and says what is missing', async () => {
    for (const seed of [0, 1]) {
      write('main', 'grpo', seed, 4 + seed)
      write('main', 'skillgate', seed, 8 + seed)
      write('failures/30', 'grpo', seed, 3)
      write('failures/30', 'skillgate', seed, 7)
    }
    const twice = creditGroup([
      [1, 'oracle', 'oracle'],
      [1, 'oracle'],
    ])
    const trained = join(runs, 'main', 'runs', 'grpo', 'seed-1')
    await writeTrajectories(join(trained, 'trajectories', 'step-000002.jsonl'), [{ ...twice, step: 2 }])
    const docs = join(runs, 'docs')
    const [{ writePage }, { parts }] = [await load('page'), await load('plan')]
    await writePage(parts, { root: runs, docs })
    const page = readFileSync(join(docs, 'reproduction.md'), 'utf8')
    expect(page).toContain('| grpo | 2 of 5 | 45.0%')
    expect(page).toContain('success of skillgate above that of grpo: 40.0 points; over tasks **shown**')
    expect(page).toContain('Not all of the plan has been run')
    expect(page).toMatch(/## Wrong oracle labels[^#]*Not run yet/)
    expect(page).toMatch(/\| 30 \| skillgate \| 2 \| 70\.0% \|/)
    const figures = readdirSync(join(docs, 'figures'))
    for (const [, file] of page.matchAll(/\]\(figures\/([^)]+)\)/g)) expect(figures).toContain(file)
    expect(page).toContain('| grpo | 90 | 20.0% | 2.0% | 25.0% | 1.50 | 40.0 |')
    const rewards = { grpo: '45.0 [-18.5, 108.5] | -', skillgate: '85.0 [21.5, 148.5] | +40.0 [40.0, 40.0]' }
    expect(page).toContain(`| grpo | 2 | ${rewards.grpo} | 35.0 [-28.5, 98.5] | - | 10.0 [10.0, 10.0] | - |`)
    expect(page).toContain(`| skillgate | 2 | ${rewards.skillgate} | 75.0 [11.5, 138.5] | +40.0`)
    expect(page).toContain(
      'while training, oracle reads of skillgate above those of grpo: +40.0 [40.0, 40.0] points; over seeds **shown** (2 seeds)',
    )
    expect(page).toContain('0.0 [0.0, 0.0] points; over seeds **not shown** (2 seeds)')
    expect(page).toContain(
      'new tasks, phrasings of the training | skillgate - grpo | 2 | +20.0 [20.0, 20.0] | +40.0',
    )
    expect(page).toContain('held-out phrasings and files | skillgate | 2 | 21.3 [5.4, 37.1] |')
    expect(page).toMatch(/\| grpo \|[^\n]*\| -; 50\.0% \|/)
    expect(figures).toContain('failures-success.svg')
    expect(page).not.toMatch(/undefined|NaN|null/)
  })

  it('of an experiment beyond the plan has its settings side by side', async () => {
    for (const seed of [0, 1]) {
      write('failures/30', 'grpo', seed, 3)
      write('failures/30', 'skillgate', seed, 5)
      write('sampling/30', 'skillgate', seed, 7)
    }
    const docs = join(runs, 'extra-docs')
    const [{ writeExtraPage }, { extras }] = [await load('extra-page'), await load('plan')]
    await writeExtraPage('sampling', extras.sampling, { root: runs, docs })
    const page = readFileSync(join(docs, 'sampling.md'), 'utf8')
    expect(page).toContain('sampling 30, skillgate by credit: 2 of 5 runs')
    expect(page).toMatch(/\| 30 \| skillgate by credit \| 2 \| 70\.0% \|/)
    expect(page).toContain('| 30 | skillgate by credit | +40.0 [10.0, 70.0], 2/2 |')
    expect(page).toContain('| 30 | skillgate by credit | 10.5 | 8.0 |')
    expect(page).toContain(
      'success of skillgate by credit above that of grpo: 40.0 points; over tasks **shown** [10.0, 70.0]; over seeds shown [40.0, 40.0] (2 seeds)',
    )
    expect(page).toContain(
      '| 30 | new tasks, phrasings of the training | skillgate by credit - grpo | 2 | +20.0 [20.0, 20.0] |',
    )
    expect(page).toContain(
      'compare --methods skillgate --seeds 0,1,2,3,4 --own-starts --jobs 2 --command-failures 0.3 --dynamic-sampling-by credit --output runs/reproduce/sampling/30',
    )
    const figures = readdirSync(join(docs, 'figures'))
    for (const [, file] of page.matchAll(/\]\(figures\/([^)]+)\)/g)) expect(figures).toContain(file)
    expect(page).not.toMatch(/undefined|NaN|null/)
  })
})
