import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { audit } from '../../lib/audit/audit.js'
import type { Trajectory } from '../../lib/rollout/trajectory.js'
import { writeTrajectories } from '../../lib/rollout/trajectory-file.js'
import { bytesTokenizer as tokenizer } from './bytes-tokenizer.js'
import { folderOf, linesOf, record } from './lines-of.js'

const xml = (path: string) =>
  `<tool_call>\n<function=read>\n<parameter=path>\n${path}\n</parameter>\n</function>\n</tool_call>`
const json = (path: string) =>
  `<tool_call>\n${JSON.stringify({ name: 'read', arguments: { path } })}\n</tool_call>`
const slate = [
  { name: 'pdf', category: 'oracle' },
  { name: 'csv', category: 'misleading' },
]
const bytes = (text: string) => Buffer.byteLength(text)
const path = (name: string) => `/root/skills/${name}/SKILL.md`

describe('a record of any trainer', () => {
  it('finds reads in texts of turns, in JSON and in XML, in order of appearance', async () => {
    const turns = [`🦊 first ${json(path('pdf'))}`, `then ${xml(path('csv'))} and ${json('/tmp/notes.md')}`]
    const source = linesOf([record({ turns, slate, reads: undefined, generated: undefined })])
    const { overall } = await audit(source, { tokenizer })
    const generated = bytes(turns.join(''))
    expect(overall).toMatchObject({
      trajectories: 1,
      withRead: 1,
      oracleReaders: 1,
      generatedMedian: generated,
    })
    const call = bytes(json(path('pdf'))) + bytes(xml(path('csv')))
    expect(overall.callShareMedian).toBeCloseTo(call / generated, 12)
    expect(overall.identityShareMedian).toBeCloseTo(6 / generated, 12)
  })

  it('gives the same for the same trajectory in every form', async () => {
    const word = fc.constantFrom(
      'look',
      '🦊',
      'naïve',
      '读取',
      'a\nb',
      '</think>',
      '<tool_call>',
      '{"name": 1}',
    )
    const part = fc.oneof(
      word,
      fc.constantFrom('pdf', 'csv', 'other').map((name) => json(path(name))),
      fc.constantFrom('pdf', 'csv').map((name) => xml(path(name))),
    )
    const turn = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(' '))
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const base = { task: 'a', group: 0, reward: 1, slate }
        const between = '<|im_end|>\n<|im_start|>user\nresult<|im_end|>\n<|im_start|>assistant\n'
        const pieces = turns.flatMap((text, i) => [
          { text, own: 1 },
          ...(i < turns.length - 1 ? [{ text: between, own: 0 }] : []),
        ])
        const tokens = pieces.flatMap(({ text }) => [...Buffer.from(text)])
        const mask = pieces.flatMap(({ text, own }) => Array(bytes(text)).fill(own))
        const forms = [
          { ...base, turns },
          { ...base, response: turns.join(between) },
          { ...base, tokens: [...Buffer.from('prompt'), ...tokens], mask: [0, 0, 0, 0, 0, 0, ...mask] },
        ]
        const [first, ...others] = await Promise.all(
          forms.map(async (form) => (await audit(linesOf([form]), { tokenizer })).overall),
        )
        for (const other of others) expect(other).toEqual(first)
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  it('counts spans within the mask, tokens of overlapping spans once', async () => {
    const mask = [0, 1, 1, 1, 1, 1, 0, 1, 1, 1]
    const reads = [
      { skill: 'pdf', call: [1, 6], identity: [2, 4] },
      { skill: 'csv', call: [1, 6], identity: [3, 5] },
    ]
    const { overall } = await audit(linesOf([record({ generated: undefined, mask, reads, slate })]))
    expect(overall).toMatchObject({ generatedMedian: 8, oracleReaders: 1 })
    expect(overall.callShareMedian).toBeCloseTo(5 / 8, 12)
    expect(overall.identityShareMedian).toBeCloseTo(3 / 8, 12)
  })

  it('ignores fields it does not know, and takes any name for a group', async () => {
    const { counts } = await audit(
      linesOf([record({ group: 'x/1', extra: { a: 1 } }), record({ group: 'x/2' })]),
    )
    expect(counts.groups).toBe(2)
  })

  it('tells groups of files apart where lines do not say their step', async () => {
    const line = `${JSON.stringify(record())}\n`
    expect((await audit(folderOf({ 'a.jsonl': line, 'b.jsonl': line }))).counts).toMatchObject({
      groups: 2,
      steps: 2,
    })
  })

  it('finds no call inside thoughts, and none cut off', async () => {
    const turns = [
      `<think>${json(path('pdf'))}</think> done`,
      `<tool_call>\n{"name": "read", "arguments": {"path": "${path('pdf')}`,
    ]
    const { overall } = await audit(
      linesOf([record({ turns, slate, reads: undefined, generated: undefined })]),
      { tokenizer },
    )
    expect(overall.withRead).toBe(0)
  })
})

function trajectory(over: Partial<Trajectory>): Trajectory {
  return {
    ...{
      task: 'a',
      group: 0,
      index: 0,
      seed: 1,
      policyVersion: 0,
      labelled: true,
      reward: 1,
      truncated: false,
    },
    ...{ turns: 1, slate: [], calls: [], messages: [], reads: [], sequences: [] },
    ...over,
  }
}

/** A sequence whose mask is given as text: `x` sampled, `.` not. */
function sequence(mask: string) {
  return {
    tokens: Int32Array.from(mask, (_, i) => i),
    generated: Uint8Array.from(mask, (c) => (c === 'x' ? 1 : 0)),
    logprobs: new Float32Array(mask.length),
    turns: [],
  }
}

describe('trajectories of a run', () => {
  const reader = trajectory({
    sequences: [sequence('..xxxx..xx'), sequence('.....xxx')],
    reads: [
      {
        ...{ skill: 'pdf', category: 'oracle', tool: 'read', sequence: 0, turn: 0 },
        ...{ call: { start: 2, end: 6 }, identity: { start: 3, end: 5 } },
      },
      {
        ...{ skill: 'csv', category: 'misleading', tool: 'exec', sequence: 1, turn: 0 },
        ...{ call: { start: 4, end: 7 }, identity: { start: 6, end: 7 } },
      },
    ],
  })
  const rest = trajectory({ index: 1, reward: 0, sequences: [sequence('..xxxxx.xxx')] })
  const failed = trajectory({ index: 2, reward: null, failure: { code: 'ERR_AGENT', message: 'x' } })

  it('are read from a run folder, each sampled token counted once', async () => {
    const run = folderOf({ 'metrics.jsonl': '{"step":0}\n' })
    mkdirSync(join(run, 'trajectories'))
    const group = { task: 'a', index: 0, step: 0, trajectories: [reader, rest, failed] }
    await writeTrajectories(join(run, 'trajectories', 'step-000000.jsonl'), [group])
    const equal = [trajectory({ ...reader, group: 1 }), trajectory({ ...rest, group: 1, reward: 1 })]
    const dropped = { task: 'a', index: 1, step: 1, dropped: 'equal-rewards' as const, trajectories: equal }
    const unlabelled = {
      task: 'b',
      index: 2,
      step: 1,
      trajectories: [trajectory({ ...rest, task: 'b', group: 2, labelled: false })],
    }
    await writeTrajectories(join(run, 'trajectories', 'step-000001.jsonl'), [dropped, unlabelled])

    const { counts, overall, formats, notes } = await audit(run)
    expect(formats).toEqual(['trajectories'])
    expect(counts).toMatchObject({
      read: 6,
      measured: 3,
      failed: 1,
      dropped: 2,
      unlabelled: 1,
      groups: 2,
      steps: 2,
    })
    // 6 + 3 sampled tokens; calls cover 4 + 2 of them, names 2 + 1.
    expect(overall.callShareMedian).toBeCloseTo(6 / 9, 12)
    expect(overall.identityShareMedian).toBeCloseTo(3 / 9, 12)
    expect(overall).toMatchObject({ withRead: 1, oracleReaders: 1, mixedGroups: 1 })
    // Known for one sequence only: 8 of the 9 tokens after the prompt.
    expect(overall.generatedOverResponseMean).toBeCloseTo(8 / 9, 12)
    expect(notes).toEqual([
      '1 of 6 trajectories have no reward and are left out',
      '2 of 6 trajectories are in groups the trainer dropped from its update and are left out',
      '1 of 6 trajectories are of tasks without an oracle label: they count in Share only',
    ])

    const all = await audit(run, { includeDropped: true })
    expect(all.counts).toMatchObject({ measured: 5, dropped: 0, groups: 3 })
    expect(all.overall.mixedGroups).toBe(2)
  })
})

describe('a dump of the released trainer', () => {
  const line = (task: string, response: string, score = 1) => ({
    ...{ group_index: 0, response, response_length: 2 * bytes(response) },
    reward: { raw_score: score, bench: 'seta', task_id: task },
  })

  it('takes its step from the file name and its categories from the slates', async () => {
    const response = `${json(path('pdf'))}<|im_end|>\n<|im_start|>assistant\nbye`
    const folder = folderOf({
      '3.jsonl': `${JSON.stringify(line('t', response))}\n${JSON.stringify(line('t', 'no read', 0))}\n`,
      '12.jsonl': `${JSON.stringify(line('other', response))}\n`,
      'slates.jsonl':
        '{"bench": "seta_synth", "task_id": "t", "oracle": [{"name": "pdf"}], "misleading": ["csv"]}\n',
    })
    const { counts, overall, notes } = await audit(folder, { tokenizer })
    expect(counts).toMatchObject({ measured: 3, steps: 2, groups: 2, unlabelled: 1 })
    expect(overall).toMatchObject({ withRead: 2, oracleReaders: 1, mixedGroups: 1, value: { mean: 1 } })
    expect(notes).toEqual([
      '1 of 3 trajectories are of tasks without a slate: the category of their reads is unknown',
    ])
    const own = bytes(json(path('pdf'))) + 3
    expect(overall.callShareMedian).toBeCloseTo((own - 3) / own, 12)
  })
})
