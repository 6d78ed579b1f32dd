import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, families, sampledBytes, start } from './scripted-conversation.js'

describe('properties', () => {
  const turn = fc.record({
    text: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constantFrom('', ' ', '\n', call, 'x</think>y'),
    ),
    cut: fc.boolean(),
    next: fc.constantFrom('user' as const, 'tool' as const),
    content: fc.string({ unit: 'grapheme', maxLength: 20 }),
  })

  for (const history of ['append', 'rerender'] as const) {
    it(`${history}: lengths agree, every sampled id is generated once and as it was sampled`, () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...families),
          fc.array(turn, { minLength: 1, maxLength: 5 }),
          (name, turns) => {
            const { conversation, tokenizer, answer, prompts, end } = start({ name, history })
            conversation.add({ role: 'user', content: 'go' })
            const sampled: number[][] = []
            for (const { text, cut, next, content } of turns) {
              const ended = cut ? null : end
              sampled.push([...sampledBytes(tokenizer, text, ended)])
              answer(text, ended)
              conversation.add({ role: next, content })
            }
            const sequences = conversation.sequences()
            const recorded: number[][] = []
            for (const { tokens, generated, logprobs, turns: ranges } of sequences) {
              expect([generated.length, logprobs.length]).toEqual([tokens.length, tokens.length])
              const flags = new Uint8Array(tokens.length)
              for (const { start: from, end: to } of ranges) {
                flags.fill(1, from, to)
                recorded.push([...tokens.slice(from, to)])
              }
              expect(generated).toEqual(flags)
              expect(logprobs.every((value, i) => (generated[i] ? value < 0 : value === 0))).toBe(true)
            }
            expect(recorded).toEqual(sampled)
            if (history === 'append') {
              expect(sequences.length).toBe(1)
              for (const [i, prompt] of prompts.entries()) {
                expect([...sequences[0]!.tokens.slice(0, prompt.length)]).toEqual(prompt)
                const earlier = prompts[i - 1] ?? []
                expect(prompt.slice(0, earlier.length)).toEqual(earlier)
              }
            }
          },
        ),
        { numRuns: 80 },
      )
    })
  }

  it('rerender: the text of every prompt is the fresh rendering', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...families),
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        (name, turns) => {
          const { conversation, tokenizer, answer, end, render } = start({ name, history: 'rerender' })
          conversation.add({ role: 'user', content: 'go' })
          for (const { text, cut, next, content } of turns) {
            expect(tokenizer.textOf(conversation.promptForGeneration())).toBe(render())
            answer(text, cut ? null : end)
            conversation.add({ role: next, content })
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
