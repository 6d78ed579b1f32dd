import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_TURN_TOKENS } from '../../../lib/environments/skill-lab/agent.js'
import { modelFolder } from '../../../lib/environments/skill-lab/assets.js'
import { skillLab } from '../../../lib/environments/skill-lab/index.js'
import { ChatTemplate } from '../../../lib/policy/chat-template.js'
import { Tokenizer } from '../../../lib/policy/tokenizer.js'

const json = async (name: string) => JSON.parse(await readFile(join(modelFolder, name), 'utf8'))
const tokenizer = await Tokenizer.load(modelFolder)
const template = await ChatTemplate.load(modelFolder)
const lab = await skillLab({ seed: 0 })
const demos = lab.demonstrations(400, 0)
const count = (text: string) => tokenizer.encode(text).length
const marks = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>']

describe('the tokenizer', () => {
  it('fits the config of the model', async () => {
    const [config, generation] = [await json('config.json'), await json('generation_config.json')]
    expect(tokenizer.vocabularySize).toBe(config.vocab_size)
    expect(config.vocab_size).toBeLessThanOrEqual(2048)
    expect(tokenizer.idOf('<|im_end|>')).toBe(config.eos_token_id)
    expect(generation.eos_token_id).toContain(config.eos_token_id)
    expect(tokenizer.endOfTurnIds).toEqual(generation.eos_token_id)
    for (const mark of marks) expect(count(mark)).toBe(1)
  })

  it('has each of its ids by one token, and every byte', async () => {
    const { model, added_tokens } = await json('tokenizer.json')
    const ids = [
      ...Object.values(model.vocab as Record<string, number>),
      ...added_tokens.map((t: { id: number }) => t.id),
    ]
    expect([...ids].sort((a, b) => a - b)).toEqual(
      Array.from({ length: tokenizer.vocabularySize }, (_, i) => i),
    )
    const single = ids.map((id) => tokenizer.bytesOf(id)).filter((bytes) => bytes.length === 1)
    expect(new Set(single.map((bytes) => bytes[0])).size).toBe(256)
  })

  it('gives any text back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const ids = tokenizer.encode(text)
        expect(Buffer.concat(Array.from(ids, (id) => tokenizer.bytesOf(id)))).toEqual(
          Buffer.from(text, 'utf8'),
        )
      }),
    )
  })

  it('encodes as the published library does', async () => {
    const plain = new HuggingFaceTokenizer(await json('tokenizer.json'), await json('tokenizer_config.json'))
    for (const { messages, tools } of demos.slice(0, 20)) {
      const text = template.render(messages, { tools })
      expect(plain.encode(text, { add_special_tokens: false }).ids).toEqual([...tokenizer.encode(text)])
    }
  })

  it('takes digits one by one and keeps the frame of a call short', () => {
    const pieces = (text: string) => Array.from(tokenizer.encode(text), (id) => tokenizer.textOf([id]))
    expect(pieces('4183')).toEqual(['4', '1', '8', '3'])
    expect(
      count('<tool_call>\n{"name": "run", "arguments": {"command": ""}}\n</tool_call>'),
    ).toBeLessThanOrEqual(10)
    expect(count('</location>\n  </skill>\n  <skill>\n    <name>')).toBe(1)
  })
})

describe('a context', () => {
  const sizes = demos.map(({ messages, tools }) => ({
    prompt: count(template.render(messages.slice(0, 2), { tools, addGenerationPrompt: true })),
    whole: count(template.render(messages, { tools })),
    turns: messages
      .filter((message) => message.role === 'assistant')
      .map((message) => count(message.content) + 1),
  }))

  it('stays within 600 tokens for the prompt and 900 in all', () => {
    expect(Math.max(...sizes.map((size) => size.prompt))).toBeLessThanOrEqual(600)
    expect(Math.max(...sizes.map((size) => size.whole))).toBeLessThanOrEqual(900)
    for (const skill of lab.skills) expect(count(skill.content), skill.name).toBeLessThanOrEqual(110)
  })

  it('needs 40 or more generated tokens for every right procedure, and no turn too long', () => {
    for (const { turns } of sizes) expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_TURN_TOKENS)
    const whole = sizes.filter(({ turns }) => turns.length > 1) // the others end with the choice
    expect(whole.length).toBeGreaterThan(0)
    const generated = whole.map(({ turns }) => turns.reduce((sum, tokens) => sum + tokens, 0))
    expect(Math.min(...generated)).toBeGreaterThanOrEqual(40)
  })
})

describe('the chat template', () => {
  it('extends its own rendering turn by turn', () => {
    for (const { messages, tools } of demos.slice(0, 50)) {
      for (let i = 2; i < messages.length; i += 2) {
        const prompt = template.render(messages.slice(0, i), { tools, addGenerationPrompt: true })
        const after = template.render(messages.slice(0, i + 1), { tools })
        expect(after).toBe(`${prompt}${messages[i]!.content}<|im_end|>\n`)
      }
    }
  })

  it('names the tools with their parameters once', () => {
    const { messages, tools } = demos[0]!
    expect(
      template.render(messages, { tools }).split('Tools: read(path) run(command)<|im_end|>'),
    ).toHaveLength(2)
    expect(template.render(messages)).not.toContain('Tools:')
  })
})
