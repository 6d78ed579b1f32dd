import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { commandLine } from './command-line.js'

const folder = mkdtempSync(join(tmpdir(), 'skillgate-audit-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Two rollouts of a task as records of any trainer: the one that read the right skill failed, the other did not. */
const records = [
  { group: 'g', task: 't', reward: 0, generated: 40, reads: [{ category: 'oracle', call: 10, identity: 4 }] },
  { group: 'g', task: 't', reward: 1, generated: 20, reads: [] },
]

describe('skillgate audit', () => {
  const source = join(folder, 'records.jsonl')
  writeFileSync(source, records.map((record) => `${JSON.stringify(record)}\n`).join(''))

  it('prints the figures and writes page and JSON', async () => {
    const [html, json] = [join(folder, 'page.html'), join(folder, 'figures.json')]
    const { code, out } = await commandLine('audit', source, '--html', html, '--json', json)
    expect(out).toContain('2 trajectories in 1 group of 1 task')
    expect(code).toBe(0)
    expect(readFileSync(html, 'utf8')).toMatch(/^<!doctype html>/i)
    const { overall } = JSON.parse(readFileSync(json, 'utf8'))
    expect(overall).toMatchObject({ trajectories: 2, withRead: 1 })
  })

  it('says what is wrong with the source, and where it cannot write', async () => {
    expect((await commandLine('audit')).err).toContain('expected one run folder or JSONL file, got none')
    expect((await commandLine('audit', join(folder, 'absent'))).err).toContain('ERR_AUDIT')
    const { code, err } = await commandLine('audit', source, '--json', join(folder, 'no', 'such', 'folder'))
    expect([code, err.includes('ERR_FILE')]).toEqual([1, true])
  })
})
