import { SkillgateError } from '../errors.js'
import type { ChatTemplate, RenderOptions, TemplateMessage } from '../policy/chat-template.js'
import type { Tokenizer } from '../policy/tokenizer.js'

/** What follows the model's own text when it ends its turn: the ids to train on after a demonstration. */
export interface EndOfTurn {
  ids: Int32Array
  /** The token that ends the turn, last of `ids`; none where neither template nor tokenizer has one. */
  id?: number
}

/** The template's own text after the content of message `index`, found by rendering it with a mark as content. */
export function textAfter(
  template: ChatTemplate,
  messages: readonly TemplateMessage[],
  index: number,
  options: RenderOptions,
): string {
  let mark = 'textmark'
  while (messages.some((message) => message.content.includes(mark))) mark += 'q7'
  const marked = messages.map((message, i) => (i === index ? { ...message, content: mark } : message))
  const text = template.render(marked, options)
  const start = text.lastIndexOf(mark)
  if (start < 0) {
    const message = `expected the chat template to show messages[${index}] (${messages[index]?.role}), it leaves it out`
    throw new SkillgateError('ERR_CHAT_TEMPLATE', message)
  }
  return text.slice(start + mark.length)
}

/**
 * The end of an assistant turn: what the template writes after a last assistant message, through its first special
 * token, e.g. `<|im_end|>`; the tokenizer's eos where the template writes none.
 */
export function findEndOfTurn(
  template: ChatTemplate,
  tokenizer: Tokenizer,
  variables?: Readonly<Record<string, unknown>>,
): EndOfTurn {
  const messages = [
    { role: 'user', content: 'question' },
    { role: 'assistant', content: '' },
  ]
  const ids = tokenizer.encode(textAfter(template, messages, 1, { variables }))
  const ends = new Set(tokenizer.endOfTurnIds)
  const place = ids.findIndex((id) => ends.has(id) || tokenizer.isSpecial(id))
  if (place >= 0) return { ids: ids.slice(0, place + 1), id: ids[place]! }
  const eos = tokenizer.eosId
  return eos === undefined ? { ids: new Int32Array(0) } : { ids: Int32Array.of(eos), id: eos }
}

/** Length of the longest common beginning of two texts, in UTF-16 units. */
export function commonPrefixLength(a: string, b: string): number {
  let low = 0
  let high = Math.min(a.length, b.length)
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (a.slice(low, middle) === b.slice(low, middle)) low = middle
    else high = middle - 1
  }
  return low
}
