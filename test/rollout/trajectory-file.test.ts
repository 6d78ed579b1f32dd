import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SkillgateError } from '../../lib/errors.js'
import type { Trajectory } from '../../lib/rollout/trajectory.js'
import {
  readTrajectories,
  type StoredGroup,
  storedGroups,
  writeTrajectories,
} from '../../lib/rollout/trajectory-file.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skillgate-trajectories-'))
})
afterAll(() => rm(folder, { recursive: true }))
let files = 0
const newPath = () => join(folder, `${files++}.jsonl`)

const bits = new Float32Array(1)
const float32 = fc.nat({ max: 0xffffffff }).map((pattern) => {
  new Uint32Array(bits.buffer)[0] = pattern
  return bits[0]!
})
const sequence = fc
  .array(fc.record({ token: fc.nat({ max: 2 ** 31 - 1 }), generated: fc.boolean(), logprob: float32 }), {
    maxLength: 40,
  })
  .map((rows) => ({
    tokens: Int32Array.from(rows, (row) => row.token),
    generated: Uint8Array.from(rows, (row) => (row.generated ? 1 : 0)),
    logprobs: Float32Array.from(rows, (row) => (row.generated ? row.logprob : 0)),
    turns:
      rows.length > 3
        ? [
            { start: 1, end: 2 },
            { start: 2, end: rows.length },
          ]
        : [],
  }))
const text = fc.string({ unit: 'binary' }).map((s) => `${s}\n\u2028\ud800"`)
const trajectory: fc.Arbitrary<Trajectory> = fc.record(
  {
    task: fc.constant('t'),
    group: fc.constant(0),
    index: fc.constant(0),
    seed: fc.maxSafeNat(),
    policyVersion: fc.nat(),
    sequences: fc.array(sequence, { minLength: 1, maxLength: 3 }),
    slate: fc.array(
      fc.record(
        { name: text, location: text, category: fc.constantFrom('oracle', 'misleading') },
        { requiredKeys: ['name', 'location'] },
      ),
    ),
    calls: fc.array(
      fc.record({
        id: text,
        tool: text,
        arguments: fc.dictionary(fc.string(), fc.jsonValue()),
        sequence: fc.constant(0),
        turn: fc.nat(),
        bytes: fc.constant({ start: 3, end: 9 }),
      }),
    ),
    reads: fc.array(
      fc.record({
        skill: text,
        category: fc.constantFrom('oracle', 'unadvertised'),
        tool: text,
        sequence: fc.constant(0),
        turn: fc.nat(),
        call: fc.constant({ start: 0, end: 0 }),
        identity: fc.constant({ start: 0, end: 0 }),
      }),
    ),
    labelled: fc.boolean(),
    reward: fc.oneof(
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((r) => r + 0),
    ),
    failure: fc.record({ code: text, message: text }),
    truncated: fc.boolean(),
    turns: fc.nat(),
    messages: fc.array(
      fc.record(
        { role: fc.constantFrom('system', 'user', 'assistant', 'tool'), content: text, name: text },
        { requiredKeys: ['role', 'content'] },
      ),
    ),
    details: fc.dictionary(fc.string(), fc.jsonValue()),
  },
  {
    requiredKeys: [
      'task',
      'group',
      'index',
      'seed',
      'policyVersion',
      'sequences',
      'slate',
      'calls',
      'reads',
      'labelled',
      'reward',
      'truncated',
      'turns',
      'messages',
    ],
  },
) as fc.Arbitrary<Trajectory>

const sample = (): Trajectory =>
  fc.sample(
    trajectory.filter((t) => t.sequences[0]!.generated.includes(1)),
    { numRuns: 1, seed: 5 },
  )[0]!
function group(index: number, over: Partial<StoredGroup> = {}): StoredGroup {
  const trajectories = [0, 1].map((place) => ({ ...sample(), task: `t${index}`, group: index, index: place }))
  return { task: `t${index}`, index, step: 7, trajectories, ...over }
}

test('arguments keep every key that a model may name', async () => {
  const path = newPath()
  const given = JSON.parse('{"__proto__": [1], "constructor": {"__proto__": 2}, "toString": null}')
  const call = { ...sample().calls[0]!, arguments: given }
  await writeTrajectories(path, [group(0, { trajectories: [{ ...sample(), calls: [call] }] })])
  const [read] = await readTrajectories(path)
  expect(JSON.stringify(read!.trajectories[0]!.calls[0]!.arguments)).toBe(JSON.stringify(given))
})

test('any trajectory reads back as it was, each logprob to the bit', async () => {
  const path = newPath()
  await fc.assert(
    fc.asyncProperty(trajectory, async (t) => {
      await writeTrajectories(path, [
        { task: 't', index: 0, step: 1, trajectories: [JSON.parse(JSON.stringify(t)) && t] },
      ])
      const [read] = await readTrajectories(path)
      const plain = (value: Trajectory) => JSON.parse(JSON.stringify({ ...value, sequences: [] }))
      expect(plain(read!.trajectories[0]!)).toEqual(plain(t))
      for (const [i, s] of t.sequences.entries()) {
        const back = read!.trajectories[0]!.sequences[i]!
        expect([back.tokens, back.generated, back.turns]).toEqual([s.tokens, s.generated, s.turns])
        expect(Buffer.from(back.logprobs.buffer).equals(Buffer.from(s.logprobs.buffer))).toBe(true)
      }
    }),
    { numRuns: 60 },
  )
})

test('groups keep their order, their step and the reason they were dropped for', async () => {
  const path = newPath()
  const result = {
    kept: [group(1), group(2)],
    dropped: [{ group: group(0), reason: 'equal-rewards' as const }],
    draws: 3,
    warnings: [],
  }
  const groups = storedGroups(7, result)
  expect(groups.map((g) => [g.index, g.dropped])).toEqual([
    [0, 'equal-rewards'],
    [1, undefined],
    [2, undefined],
  ])
  await writeTrajectories(path, groups)
  expect(await readTrajectories(path)).toEqual(groups)
})

test('a file of no group is empty', async () => {
  const path = newPath()
  await writeTrajectories(path, [])
  expect(await readFile(path, 'utf8')).toBe('')
  expect(await readTrajectories(path)).toEqual([])
})

test('a write that fails leaves the old file whole and nothing beside it', async () => {
  const inner = join(folder, 'kept')
  const path = join(inner, 'step.jsonl')
  await writeTrajectories(path, [group(0)])
  const before = await readFile(path)
  const broken = group(1)
  broken.trajectories[1]!.details = { big: 1n }
  await expect(writeTrajectories(path, [broken])).rejects.toThrow(/BigInt/)
  expect((await readFile(path)).equals(before)).toBe(true)
  expect(await readdir(inner)).toEqual(['step.jsonl'])
})

async function messageOf(content: string): Promise<string> {
  const path = newPath()
  await writeFile(path, content)
  const error = await readTrajectories(path).then(
    () => expect.unreachable('the file was accepted'),
    (cause: SkillgateError) => cause,
  )
  expect(error.code).toBe('ERR_TRAJECTORIES')
  expect(error.message).toContain(path)
  return error.message
}

async function goodLines(): Promise<string[]> {
  const path = newPath()
  await writeTrajectories(path, [group(0), group(1)])
  return (await readFile(path, 'utf8')).trimEnd().split('\n')
}

test('bad lines are named, all at once', async () => {
  const lines = await goodLines()
  lines[1] = '{"format":1}'
  lines[3] = lines[3]!.slice(0, -20)
  const message = await messageOf(lines.join('\n'))
  expect(message).toMatch(/line 2: step: /)
  expect(message).toMatch(/line 4: expected one JSON object a line/)
  expect(message).not.toMatch(/line [13]:/)
})

const edits: [
  string,
  (
    record: Record<string, never> & {
      sequences: { tokens: unknown[]; generated: unknown; logprobs: string }[]
    },
  ) => void,
  RegExp,
][] = [
  ['another format', (r) => Object.assign(r, { format: 2 }), /format/],
  [
    'a logprob too few',
    (r) => Object.assign(r.sequences[0]!, { logprobs: '' }),
    /sequences\.0\.logprobs: expected \d+ bytes/,
  ],
  ['base64 that is none', (r) => Object.assign(r.sequences[0]!, { logprobs: '*' }), /logprobs/],
  [
    'a run beyond the tokens',
    (r) => Object.assign(r.sequences[0]!, { generated: [[0, 9999]] }),
    /expected runs in order within/,
  ],
  ['a run that goes backwards', (r) => Object.assign(r.sequences[0]!, { generated: [[2, 1]] }), /generated/],
  ['a token that is no id', (r) => Object.assign(r.sequences[0]!, { tokens: [1.5] }), /tokens\.0/],
  [
    'a read in no sequence',
    (r) =>
      Object.assign(r, {
        reads: [
          {
            skill: 's',
            category: 'oracle',
            tool: 'read',
            sequence: 9,
            turn: 0,
            call: { start: 0, end: 1 },
            identity: { start: 0, end: 1 },
          },
        ],
      }),
    /reads\.0: expected one of \d+ sequences, got 9/,
  ],
  ['a field of its own', (r) => Object.assign(r, { mine: 1 }), /mine/],
  ['another task in the group', (r) => Object.assign(r, { task: 'x' }), /task: expected 't0'.*got 'x'/],
  ['a place taken', (r) => Object.assign(r, { index: 0 }), /index: 0 of group 0 is there already/],
  ['a reward that is text', (r) => Object.assign(r, { reward: '1' }), /reward/],
]
test.each(edits)('%s is refused', async (_, edit, message) => {
  const lines = await goodLines()
  const record = JSON.parse(lines[1]!)
  edit(record)
  expect(await messageOf([lines[0], JSON.stringify(record), lines[2]].join('\n'))).toMatch(
    new RegExp(`line 2: .*${message.source}`),
  )
})

test('a missing file and a binary one are named', async () => {
  await expect(readTrajectories(join(folder, 'none'))).rejects.toThrow(
    /cannot read trajectories from .*none.*ENOENT/,
  )
  expect(await messageOf('\u0000\u0001\n')).toMatch(/line 1: expected one JSON object/)
})
