import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChatTemplate } from '../../lib/policy/chat-template.js'
import { qwen3Folder } from './qwen3-tokenizer.js'
import { family } from './template-fixtures.js'

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
]
const tool = {
  name: 'read',
  description: 'Read a file <b>',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

describe('rendering', () => {
  it('writes what Qwen3 was made for, tools as functions, thoughts off by a variable', async () => {
    const template = await ChatTemplate.load(qwen3Folder)
    expect(
      template.render(messages, { addGenerationPrompt: true, variables: { enable_thinking: false } }),
    ).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n' +
        '<|im_start|>assistant\n<think>\n\n</think>\n\n',
    )
    expect(template.render(messages, { tools: [tool] })).toContain(
      '{"type": "function", "function": {"name": "read", "description": "Read a file <b>", ' +
        '"parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}}',
    )
    expect(template.render(messages, { tools: [] })).not.toContain('# Tools')
  })

  it('keeps the text of an assistant as it was sampled', () => {
    const content = '<tool_call>\n{"name":"read",  "arguments":{"path":"北京"}}\n</tool_call>'
    const text = family('qwen25').template.render([...messages, { role: 'assistant', content }])
    expect(text).toContain(`<|im_start|>assistant\n${content}<|im_end|>\n`)
  })

  it('knows bos_token, and a date that stays the same', () => {
    const text = family('llama3').template.render(messages, { addGenerationPrompt: true })
    expect(text).toMatch(/^<\|begin_of_text\|><\|start_header_id\|>system/)
    expect(text).toContain('Today: 04 Jul 2026\n')
  })

  it('reports what the template refuses, with the roles', () => {
    const { template } = family('qwen35')
    expect(() => template.render([{ role: 'critic', content: '' }])).toThrow(
      expect.objectContaining({
        code: 'ERR_CHAT_TEMPLATE',
        message: 'qwen35.jinja: cannot render 1 messages (critic): Unexpected message role.',
      }),
    )
  })

  it('takes the template for tools where there is one', () => {
    const template = new ChatTemplate({ template: { default: 'plain', tool_use: 'tools' } })
    expect([template.render(messages), template.render(messages, { tools: [tool] })]).toEqual([
      'plain',
      'tools',
    ])
    expect(new ChatTemplate({ template: { only: 'one' } }).render(messages)).toBe('one')
    expect(() => new ChatTemplate({ template: { a: '1', b: '2' } }).render(messages)).toThrow(
      /named "default"/,
    )
  })
})

describe('loading', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'template-'))
  })
  afterEach(() => rm(dir, { recursive: true }))

  const write = (name: string, content: unknown) =>
    writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content))
  const rendered = async () => (await ChatTemplate.load(dir)).render(messages)

  it('reads the tokenizer config, a file of its own goes first', async () => {
    await write('tokenizer_config.json', {
      chat_template: '{{ eos_token }}old',
      eos_token: { content: '</s>' },
    })
    expect(await rendered()).toBe('</s>old')
    await write('chat_template.json', { chat_template: '{{ eos_token }}json' })
    expect(await rendered()).toBe('</s>json')
    await write('chat_template.jinja', '{{ eos_token }}new')
    expect(await rendered()).toBe('</s>new')
  })

  it('reads several templates by name', async () => {
    const chat_template = [
      { name: 'default', template: 'a' },
      { name: 'tool_use', template: 'b' },
    ]
    await write('tokenizer_config.json', { chat_template })
    expect(await rendered()).toBe('a')
  })

  it('says which files it looked for', async () => {
    await write('tokenizer_config.json', { chat_template: null })
    await expect(ChatTemplate.load(dir)).rejects.toMatchObject({
      code: 'ERR_CHAT_TEMPLATE',
      message: `${dir}: expected a chat template, found none in chat_template.jinja, chat_template.json, tokenizer_config.json`,
    })
  })

  it('names a file that is wrong', async () => {
    const refused = (message: RegExp) =>
      expect(ChatTemplate.load(dir)).rejects.toMatchObject({
        code: 'ERR_CHAT_TEMPLATE',
        message: expect.stringMatching(message),
      })
    for (const chat_template of [7, {}, [{ name: 'default' }], ['x'], { default: 3 }]) {
      await write('tokenizer_config.json', { chat_template })
      await refused(/tokenizer_config\.json: expected/)
    }
    await write('tokenizer_config.json', 'nonsense')
    await refused(/tokenizer_config\.json: expected JSON/)
    await write('tokenizer_config.json', {})
    await write('chat_template.jinja', '{% for message in %}')
    await refused(/chat_template\.jinja: cannot read template "default"/)
  })
})
