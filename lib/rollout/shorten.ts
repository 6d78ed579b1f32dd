import { SkillgateError } from '../errors.js'
import type { Tokenizer } from '../policy/tokenizer.js'

/** Fewer tokens than this may not hold the note and something beside it. */
export const SHORTEST_RESULT = 64

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/**
 * A text of at most `maxTokens` tokens: the text itself, or its head and its tail with a note between them of how many
 * tokens were left out. Never cut inside a character, joined emoji and combining marks included.
 */
export function shortenText(
  text: string,
  maxTokens: number,
  tokenizer: Pick<Tokenizer, 'encode' | 'textOf'>,
): string {
  if (!Number.isSafeInteger(maxTokens) || maxTokens < SHORTEST_RESULT) {
    throw new SkillgateError(
      'ERR_INVALID_OPTION',
      `expected an integer of at least ${SHORTEST_RESULT} for the tokens of a tool result, got ${maxTokens}`,
    )
  }
  const ids = tokenizer.encode(text)
  if (ids.length <= maxTokens) return text
  // Tokens at the seams may split anew, so the first guess can come out a little too long.
  let keep = maxTokens - 16
  for (;;) {
    const head = wholeHead(text, tokenizer.textOf(ids.subarray(0, Math.ceil(keep / 2))))
    const tail = wholeTail(text, tokenizer.textOf(ids.subarray(ids.length - Math.floor(keep / 2))))
    const shortened = `${head}\n[... ${ids.length - keep} tokens left out ...]\n${tail}`
    const excess = tokenizer.encode(shortened).length - maxTokens
    if (excess <= 0 || keep === 0) return shortened
    keep = Math.max(0, keep - excess)
  }
}

/** The longest beginning of `text` that `head` holds, ending between two characters. */
function wholeHead(text: string, head: string): string {
  let end = 0
  while (end < head.length && head[end] === text[end]) end += 1
  return text.slice(0, boundaryAtMost(text, end))
}

/** The longest end of `text` that `tail` holds, beginning between two characters. */
function wholeTail(text: string, tail: string): string {
  let length = 0
  while (length < tail.length && tail.at(-1 - length) === text.at(-1 - length)) length += 1
  return text.slice(boundaryAtLeast(text, text.length - length))
}

function boundaryAtMost(text: string, place: number): number {
  return graphemes.segment(text).containing(place)?.index ?? text.length
}

function boundaryAtLeast(text: string, place: number): number {
  const character = graphemes.segment(text).containing(place)
  if (character === undefined || character.index === place) return place
  return character.index + character.segment.length
}
