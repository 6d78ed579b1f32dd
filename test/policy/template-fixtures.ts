import { readFileSync } from 'node:fs'
import { ChatTemplate } from '../../lib/policy/chat-template.js'
import type { Tokenizer } from '../../lib/policy/tokenizer.js'
import { byteLevelTokenizer } from './tiny-tokenizers.js'

export type Family = 'qwen25' | 'qwen35' | 'llama3' | 'phi3' | 'glm4' | 'end-after-last'

/** Templates that behave as those of model families do, each with a tokenizer that has its tokens. */
export function family(name: Family): { template: ChatTemplate; tokenizer: Tokenizer } {
  const source = readFileSync(new URL(`../fixtures/templates/${name}.jinja`, import.meta.url), 'utf8')
  const tokenizer = byteLevelTokenizer(
    {
      qwen25: { eos: '<|im_end|>', ends: ['<|im_end|>', '<|endoftext|>'] },
      qwen35: { eos: '<|im_end|>', ends: ['<|im_end|>', '<|endoftext|>'] },
      llama3: { bos: '<|begin_of_text|>', eos: '<|eot_id|>', addBos: true },
      phi3: { eos: '<|endoftext|>', ends: ['<|end|>'] },
      glm4: { eos: '<|endoftext|>', ends: ['<|user|>', '<|observation|>'] },
      'end-after-last': { eos: '<|endoftext|>' },
    }[name],
  )
  const template = new ChatTemplate({
    template: source,
    specialTokens: tokenizer.specialTokens,
    now: new Date(2026, 6, 4, 12),
    file: `${name}.jinja`,
  })
  return { template, tokenizer }
}
