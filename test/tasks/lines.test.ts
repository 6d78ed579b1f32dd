import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Line, readLines } from '../../lib/tasks/lines.js'

async function linesOf(content: Uint8Array, maxBytes?: number): Promise<Line[]> {
  const folder = await mkdtemp(join(tmpdir(), 'skillgate-lines-'))
  await writeFile(join(folder, 'f'), content)
  const file = await open(join(folder, 'f'))
  try {
    const lines: Line[] = []
    for await (const line of readLines(file, maxBytes)) lines.push(line)
    return lines
  } finally {
    await file.close()
    await rm(folder, { recursive: true })
  }
}

test('any text comes back, split at line feeds alone', async () => {
  const text = fc.array(fc.string({ unit: 'binary' }).map((s) => s.replaceAll(/[\n\ufeff]|\r$/g, '')))
  await fc.assert(
    fc.asyncProperty(text, async (rows) => {
      const lines = await linesOf(Buffer.from(rows.map((row) => `${row}\n`).join('')))
      expect(lines).toEqual(rows.map((row, i) => ({ number: i + 1, text: Buffer.from(row).toString() })))
    }),
    { numRuns: 50 },
  )
})

test('a line that is too long is named, those after it are read', async () => {
  const lines = await linesOf(Buffer.from(`ab\n${'x'.repeat(3_000_000)}\ncd`), 10)
  expect(lines.map((line) => line.text)).toEqual(['ab', '', 'cd'])
  expect(lines[1]!.problem).toMatch(/at most 10 bytes in a line, got 3000000/)
})
