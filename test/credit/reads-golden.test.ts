import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findSkillReads } from '../../lib/credit/reads.js'
import { parseToolCalls } from '../../lib/rollout/tool-calls.js'
import type { SlateEntry } from '../../lib/rollout/trajectory.js'
import type { SkillCategory } from '../../lib/skills/skill.js'
import { qwen3Tokenizer } from '../policy/qwen3-tokenizer.js'

interface GoldenRead {
  tool_name: string
  skill_name: string
  category: string
  call_char_span: [number, number]
  identity_char_span: [number, number]
  call_tokens: number[]
  identity_tokens: number[]
}

interface GoldenTurn {
  name: string
  text: string
  generated_tokens: number[]
  reads: GoldenRead[]
}

const golden: { advertised: string[]; oracle: string; turns: GoldenTurn[] } = JSON.parse(
  readFileSync(new URL('../fixtures/golden/credit/spans.json', import.meta.url), 'utf8'),
)
const tokenizer = qwen3Tokenizer()

// The file gives no category but those of its reads; the rest of the slate is never read.
const categories = new Map(
  golden.turns.flatMap(({ reads }) => reads.map((read) => [read.skill_name, read.category])),
)
const slate = golden.advertised.map((name): SlateEntry => {
  const category = (categories.get(name) ?? 'irrelevant') as SkillCategory
  return { name, location: `/root/.claude/skills/${name}/SKILL.md`, category }
})

/** Our answer in the file's terms. */
function readsOf(turn: GoldenTurn) {
  const tokens = Int32Array.from(turn.generated_tokens)
  const tokenBytes = turn.generated_tokens.map((id) => tokenizer.bytesOf(id))
  const calls = parseToolCalls(turn.text).calls.map(({ name, bytes }) => ({ tool: name, bytes }))
  const places = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i)
  return findSkillReads({ tokens, tokenBytes }, { calls, slate }).map((read) => ({
    tool_name: read.tool,
    skill_name: read.skill,
    category: read.category,
    call_tokens: places(read.call.start, read.call.end),
    identity_tokens: places(read.identity.start, read.identity.end),
  }))
}

describe('reads of the released code', () => {
  it('covers every turn of the file', () => {
    expect(golden.turns.length).toBeGreaterThanOrEqual(20)
  })

  for (const turn of golden.turns) {
    if (turn.name === 'json then xml') continue
    it(turn.name, () => {
      const expected = turn.reads.map(({ call_char_span: _, identity_char_span: __, ...read }) => read)
      expect(readsOf(turn)).toEqual(expected)
    })
  }

  it('json then xml: the XML call is found too', () => {
    const turn = golden.turns.find(({ name }) => name === 'json then xml')!
    const [read, ...more] = readsOf(turn)
    expect(more).toEqual([])
    expect(read).toMatchObject({ tool_name: 'read', skill_name: 'pdf-tables', category: 'oracle' })
    const bytes = (places: number[]) => tokenizer.textOf(places.map((place) => turn.generated_tokens[place]!))
    expect(bytes(read!.identity_tokens)).toContain('pdf-tables')
    expect(bytes(read!.call_tokens)).toMatch(/^<tool_call>\n<function=read>[\s\S]*<\/tool_call><\|im_end\|>$/)
  })

  it('places of calls count code points of the text', () => {
    const codePoints = (text: string, bytes: number) =>
      [...Buffer.from(text).subarray(0, bytes).toString()].length
    for (const { text, reads } of golden.turns) {
      const spans = new Set(reads.map((read) => JSON.stringify(read.call_char_span)))
      const found = parseToolCalls(text).calls.map(({ bytes }) =>
        JSON.stringify([codePoints(text, bytes.start), codePoints(text, bytes.end)]),
      )
      for (const span of spans) expect(found).toContain(span)
    }
  })
})
