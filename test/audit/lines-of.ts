import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder with the given files, gone when the test is over. */
export function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** The path of a file with one JSON value a line. */
export function linesOf(values: readonly unknown[], name = 'records.jsonl'): string {
  return join(folderOf({ [name]: values.map((value) => `${JSON.stringify(value)}\n`).join('') }), name)
}

/** A record of the documented form, with counts. */
export const record = (over: Record<string, unknown> = {}) => ({
  ...{ task: 'a', group: 0, reward: 1, generated: 100 },
  reads: [{ category: 'oracle', call: 20, identity: 4 }],
  ...over,
})
