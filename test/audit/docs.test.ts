import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { audit } from '../../lib/audit/audit.js'
import { auditOptions } from '../../lib/audit/options.js'
import { bytesTokenizer as tokenizer } from './bytes-tokenizer.js'
import { folderOf } from './lines-of.js'

const page = readFileSync(new URL('../../docs/audit-format.md', import.meta.url), 'utf8')
const examples = Array.from(page.matchAll(/```json\n(.*?)\n```/gs), (match) => match[1]!)

describe('docs/audit-format.md', () => {
  it('names every option, and each is described', () => {
    const table = page.slice(page.indexOf('## Options'))
    for (const [name, schema] of Object.entries(auditOptions.shape)) {
      expect(table).toContain(`\`${name}\``)
      expect(schema.description, name).toMatch(/\w/)
    }
  })

  it('has examples that are read as they stand', async () => {
    const [record, dump, slates] = examples
    expect(examples).toHaveLength(3)
    expect((await audit(join(folderOf({ 'a.jsonl': record! }), 'a.jsonl'))).formats).toEqual(['records'])
    const result = await audit(folderOf({ 'a.jsonl': dump!, 'slates.jsonl': slates! }), { tokenizer })
    expect(result.formats).toEqual(['dump'])
    expect(result.notes).toEqual([])
  })
})
