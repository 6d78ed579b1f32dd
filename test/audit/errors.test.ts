import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { audit } from '../../lib/audit/audit.js'
import type { AuditOptionsIn } from '../../lib/audit/options.js'
import { SkillgateError } from '../../lib/errors.js'
import { bytesTokenizer as tokenizer } from './bytes-tokenizer.js'
import { folderOf, linesOf, record } from './lines-of.js'

/** The error of an audit: its code, then its message. */
async function refusal(source: string, options: AuditOptionsIn = {}): Promise<string> {
  const error = await audit(source, options).then(
    () => expect.unreachable('no error'),
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(SkillgateError)
  return `${(error as SkillgateError).code} ${(error as SkillgateError).message}`
}

describe('bad lines', () => {
  it('are listed all at once, with file and number', async () => {
    const good = JSON.stringify(record())
    const lines = [
      good,
      '{"task": ',
      '',
      '[1]',
      good,
      JSON.stringify(record({ reward: 'high', generated: -1 })),
    ]
    const folder = folderOf({ 'a.jsonl': lines.join('\n'), 'b.jsonl': '7\n' })
    const text = await refusal(folder)
    expect(text).toMatch(/^ERR_AUDIT 4 bad lines:\n/)
    expect(text).toMatch(/a\.jsonl:2: expected one JSON object a line: /)
    expect(text).toMatch(/a\.jsonl:4: /)
    expect(text).toMatch(/a\.jsonl:6: reward: .*; generated: /)
    expect(text).toMatch(/b\.jsonl:1: /)
  })

  it('are counted after the first twenty', async () => {
    const text = await refusal(linesOf(Array(57).fill({ task: 'a' })))
    expect(text).toMatch(/^ERR_AUDIT 57 bad lines:/)
    expect(text.split('\n')).toHaveLength(22)
    expect(text).toMatch(/:20: .*\n {2}and 37 more$/s)
  })

  it.each([
    ['a reward that is none', record({ reward: undefined }), 'reward'],
    ['no length', record({ generated: undefined }), 'generated: expected a number of tokens, or a mask'],
    ['no reads and nothing to find them in', record({ reads: undefined }), 'reads: expected a list of reads'],
    ['text without a tokenizer', record({ reads: undefined, turns: ['a'] }), 'expected the option tokenizer'],
    ['ids without a mask', record({ tokens: [1, 2] }), 'mask: expected one entry a token, got nothing'],
    [
      'a mask of another length',
      record({ tokens: [1, 2], mask: [1] }),
      'mask: expected 2 entries, one a token, got 1',
    ],
    ['a mask that is none', record({ mask: [2] }), 'mask.0'],
    ['names longer than calls', record({ reads: [{ call: 2, identity: 3 }] }), 'got 3, 2 and 100'],
    ['calls longer than all', record({ reads: [{ call: 101, identity: 3 }] }), 'got 3, 101 and 100'],
    [
      'a span beyond the mask',
      record({ mask: [1, 1], reads: [{ call: [0, 3], identity: [0, 1] }] }),
      'expected ranges within the 2 tokens of the mask, got an end of 3',
    ],
    [
      'a span that ends before it starts',
      record({ reads: [{ call: [3, 2], identity: 0 }] }),
      'start after end',
    ],
  ])('say what is wrong: %s', async (_, line, expected) => {
    expect(await refusal(linesOf([line]))).toContain(expected)
  })

  it('name a group with two tasks', async () => {
    const text = await refusal(linesOf([record(), record({ task: 'b' })]))
    expect(text).toContain(':2: task: expected "a" as in the other lines of group 0 of step 0, got "b"')
  })

  it('name bytes that are no text', async () => {
    const folder = folderOf({})
    writeFileSync(join(folder, 'a.jsonl'), Buffer.from([0x7b, 0xff, 0x0a]))
    expect(await refusal(folder)).toContain(
      'a.jsonl:1: expected one JSON object a line: the bytes are not UTF-8',
    )
  })

  it('of a dump and of slates are named too', async () => {
    const dump = { group_index: 0, response: 3, reward: { raw_score: '1' } }
    const text = await refusal(linesOf([dump]), { tokenizer })
    expect(text).toMatch(/reward\.raw_score: .*reward\.task_id: .*response: /)
    const folder = folderOf({ 'a.jsonl': JSON.stringify(record()), 'slates.jsonl': '{}\n' })
    expect(await refusal(folder)).toMatch(/slates\.jsonl:1: task_id: /)
  })

  it('of a trajectory file are named too', async () => {
    const line = {
      ...{ format: 1, step: 0, task: 'a', group: 0, labelled: true, reward: 1 },
      sequences: [{ tokens: [1, 2], generated: [[0, 2]] }],
      reads: [
        { category: 'oracle', sequence: 1, call: { start: 0, end: 1 }, identity: { start: 0, end: 1 } },
      ],
    }
    expect(await refusal(linesOf([line]))).toContain('reads.0: expected one of 1 sequences, got 1')
    const beyond = { ...line, reads: [{ ...line.reads[0], sequence: 0, call: { start: 0, end: 3 } }] }
    expect(await refusal(linesOf([beyond]))).toContain('expected ranges within 2 tokens, got an end of 3')
    const runs = { ...line, sequences: [{ tokens: [1], generated: [[0, 2]] }] }
    expect(await refusal(linesOf([runs]))).toContain('expected runs of generated tokens within the sequence')
  })

  it('never end in anything but a SkillgateError', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json(), { minLength: 1, maxLength: 5 }), async (lines) => {
        const folder = folderOf({ 'a.jsonl': lines.join('\n') })
        expect(await refusal(folder, { tokenizer })).toMatch(/^ERR_AUDIT /)
      }),
      { numRuns: 40 },
    )
  }, 60_000)
})

describe('sources and options', () => {
  it('names a source that is not there, or holds nothing', async () => {
    expect(await refusal('/nowhere/at/all')).toMatch(/^ERR_AUDIT cannot read \/nowhere\/at\/all: ENOENT/)
    expect(await refusal(folderOf({ 'metrics.jsonl': '{}' }))).toMatch(/^ERR_AUDIT expected a run with/)
    expect(await refusal(linesOf([]))).toMatch(/^ERR_AUDIT expected trajectories in /)
    expect(await refusal(linesOf([record({ reward: null })]))).toMatch(/got none in 1$/)
    expect(await refusal(linesOf([record()]), { slates: '/nowhere' })).toMatch(
      /^ERR_AUDIT cannot read slates/,
    )
  })

  it('names every wrong option at once', async () => {
    const wrong = { bins: [3, 2], resample: 1, seed: -1, tokenizer: {} } as unknown as AuditOptionsIn
    const text = await refusal(linesOf([record()]), wrong)
    expect(text).toMatch(/^ERR_CONFIG 4 problems in the options of audit:/)
    for (const part of [
      'bins: expected ascending edges',
      'tokenizer: expected an object with',
      'seed: ',
      'resample',
    ])
      expect(text).toContain(part)
  })

  it('reads lines as the format that is asked for', async () => {
    const source = linesOf([record()])
    expect((await audit(source, { format: 'records' })).formats).toEqual(['records'])
    expect(await refusal(source, { format: 'dump' })).toContain(':1: group_index: ')
  })
})
