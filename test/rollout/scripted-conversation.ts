/** One conversation with a scripted model: prompts as they were asked for, answers sampled as any cut of their bytes. */

import type { Tokenizer } from '../../lib/policy/tokenizer.js'
import { Conversation, type HistoryMode } from '../../lib/rollout/conversation.js'
import { type Family, family } from '../policy/template-fixtures.js'

export const tools = [{ name: 'read', description: 'Reads', parameters: { type: 'object', properties: {} } }]
export const call =
  '<tool_call>\n<function=read>\n<parameter=path>\n/a/北.md\n</parameter>\n</function>\n</tool_call>'

/** A text as a model may sample it: any cut of its bytes into tokens, not the one that `encode` makes. */
export function sampledBytes(tokenizer: Tokenizer, text: string, end: string | null): Int32Array {
  const ids = [...tokenizer.encode(text)].flatMap((id) =>
    tokenizer.isAdded(id) ? [id] : [...tokenizer.bytesOf(id)],
  )
  return Int32Array.from(end === null ? ids : [...ids, tokenizer.idOf(end)!])
}

export const zeros = (tokens: Int32Array) => Float32Array.from(tokens, (_, i) => -1 - i)

interface Play {
  name: Family
  history?: HistoryMode
  variables?: Record<string, unknown>
}

export function start({ name, history, variables }: Play) {
  const { template, tokenizer } = family(name)
  const conversation = new Conversation({ template, tokenizer, tools, history, variables })
  const end = tokenizer.textOf([conversation.stopTokens[0]!])
  const prompts: number[][] = []
  /** Asks for the prompt, then answers it with the text and the end token (none: cut off). */
  const answer = (text: string, endToken: string | null = end) => {
    prompts.push([...conversation.promptForGeneration()])
    const ids = sampledBytes(tokenizer, text, endToken)
    return conversation.appendGenerated(ids, zeros(ids), endToken === null ? 'length' : 'stop')
  }
  const render = () => template.render(conversation.messages, { tools, addGenerationPrompt: true, variables })
  return { conversation, tokenizer, end, prompts, answer, render }
}

export const ends: Record<Family, string> = {
  qwen25: '<|im_end|>',
  qwen35: '<|im_end|>',
  llama3: '<|eot_id|>',
  phi3: '<|end|>',
  glm4: '<|endoftext|>',
  'end-after-last': '<|endoftext|>',
}
export const families = Object.keys(ends) as Family[]
