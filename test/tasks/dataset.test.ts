import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SkillgateError } from '../../lib/errors.js'
import { loadTasks } from '../../lib/tasks/dataset.js'
import type { Task } from '../../lib/tasks/task.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skillgate-tasks-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
async function stored(content: string | Uint8Array): Promise<string> {
  const path = join(folder, `${files++}.jsonl`)
  await writeFile(path, content)
  return path
}

async function messageOf(source: string | readonly Task[]): Promise<string> {
  const error = await loadTasks(source).then(
    () => expect.unreachable('the tasks were accepted'),
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(SkillgateError)
  expect((error as SkillgateError).code).toBe('ERR_TASKS')
  return (error as SkillgateError).message
}

const line = (task: object) => `${JSON.stringify(task)}\n`

test('reads tasks in order and keeps the fields it does not know', async () => {
  const tasks = [
    {
      id: 'a',
      prompt: 'do a',
      oracle: ['s1', 's2'],
      slate: { misleading: ['m'] },
      data: { n: 1 },
      mine: [1, { x: 2 }],
    },
    { id: 'b', prompt: 'do b' },
  ]
  const path = await stored(tasks.map(line).join(''))
  expect(await loadTasks(path)).toEqual(tasks)
  expect(await loadTasks(tasks)).toEqual(tasks)
})

test.each([
  ['a byte order mark', `\ufeff${line({ id: 'a', prompt: 'p' })}`],
  ['windows line ends', '{"id":"a","prompt":"p"}\r\n'],
  ['blank lines', `\n\n${line({ id: 'a', prompt: 'p' })}  \n\n`],
  ['no line end after the last task', '{"id":"a","prompt":"p"}'],
])('takes a file with %s', async (_, content) => {
  expect(await loadTasks(await stored(content))).toEqual([{ id: 'a', prompt: 'p' }])
})

test('a line may hold the line separators of Unicode', async () => {
  const prompt = 'one\u2028two\u2029three\u0085four'
  expect(await loadTasks(await stored(`{"id":"a","prompt":"${prompt}"}\n`))).toEqual([{ id: 'a', prompt }])
})

test('a line longer than a read of the file is whole, split characters included', async () => {
  const prompt = `x${'€'.repeat(1_000_000)}`
  const path = await stored(line({ id: 'a', prompt }) + line({ id: 'b', prompt: 'p' }))
  expect(await loadTasks(path)).toEqual([
    { id: 'a', prompt },
    { id: 'b', prompt: 'p' },
  ])
})

test('reports every bad line at once, by number', async () => {
  const content = Buffer.concat([
    Buffer.from(line({ id: 'a', prompt: 'p' })),
    Buffer.from('{"id": "b", "prompt"\n\n'),
    Buffer.from(line({ id: '', prompt: 7, oracle: 'x' })),
    Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]),
    Buffer.from(line({ id: 'a', prompt: 'again' })),
    Buffer.from('[1]\n'),
    Buffer.from(line({ id: 'c', prompt: 'p', slate: { good: [] } })),
    Buffer.from(line({ id: 'd', prompt: 'p', oracle: ['s'], misleading: ['s'] })),
  ])
  const message = await messageOf(await stored(content))
  expect(message).toMatch(/line 2: expected one JSON object a line/)
  expect(message).toMatch(/line 4: id: expected a non-empty string/)
  expect(message).toMatch(/line 4: .*prompt: .*expected string/)
  expect(message).toMatch(/line 4: .*oracle: .*expected array/)
  expect(message).toMatch(/line 5: expected UTF-8/)
  expect(message).toMatch(/line 6: id: 'a' is already the id of line 1/)
  expect(message).toMatch(/line 7: .*expected object/)
  expect(message).toMatch(/line 8: slate: .*good/)
  expect(message).toMatch(/line 9: misleading: 's' is also an oracle/)
  expect(message).not.toMatch(/line [13]:/)
})

test('a very bad file is reported briefly', async () => {
  const message = await messageOf(await stored('{}\n'.repeat(5000)))
  expect(message).toMatch(/5000 of 5000 tasks are bad/)
  expect(message).toMatch(/and \d+ more/)
  expect(message.length).toBeLessThan(10_000)
})

test.each([
  ['an empty file', ''],
  ['only blank lines', '\n \n'],
])('%s has no task', async (_, content) => {
  expect(await messageOf(await stored(content))).toMatch(/expected at least one task, got none/)
})

test('a missing file, a folder and a value of another type are named', async () => {
  expect(await messageOf(join(folder, 'none.jsonl'))).toMatch(/none\.jsonl.*ENOENT/)
  expect(await messageOf(folder)).toMatch(/EISDIR/)
  expect(await messageOf({ id: 'a' } as unknown as Task[])).toMatch(/path or an array/)
  expect(await messageOf([null, { id: 'a', prompt: 'p' }, 'x'] as unknown as Task[])).toMatch(
    /\[0\].*\n.*\[2\]/,
  )
  expect(await messageOf([])).toMatch(/got none/)
})
