import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortenText } from '../../lib/rollout/shorten.js'
import { tokenizer } from './scripted-policy.js'

const note = /\n\[\.\.\. \d+ tokens left out \.\.\.\]\n/
const graphemes = (text: string) =>
  Array.from(
    new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text),
    ({ segment }) => segment,
  )

test('a text that fits is left alone', () => {
  const text = 'a'.repeat(64)
  expect(shortenText(text, 64, tokenizer)).toBe(text)
})

const piece = fc.constantFrom(
  'a',
  ' ',
  '\n',
  'é',
  '北京',
  '👩‍👩‍👧‍👦',
  '🇩🇪',
  'e\u0301',
  '✂️',
  '\u{1f600}',
  'नि',
  '\ufffd',
)
const texts = fc.array(piece, { minLength: 30, maxLength: 200 }).map((pieces) => pieces.join(''))

test('head and tail are whole characters of the text, and together no more than allowed', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 64, max: 400 }), (text, maxTokens) => {
      const short = shortenText(text, maxTokens, tokenizer)
      if (tokenizer.encode(text).length <= maxTokens) {
        expect(short).toBe(text)
        return
      }
      expect(tokenizer.encode(short).length).toBeLessThanOrEqual(maxTokens)
      const [head, tail] = short.split(note) as [string, string]
      const whole = graphemes(text)
      expect(whole.slice(0, graphemes(head).length).join('')).toBe(head)
      expect(tail === '' ? '' : whole.slice(-graphemes(tail).length).join('')).toBe(tail)
    }),
  )
})

test.each([63, 0, Number.NaN])('%d tokens are refused', (maxTokens) => {
  expect(() => shortenText('a', maxTokens, tokenizer)).toThrow(/at least 64/)
})
