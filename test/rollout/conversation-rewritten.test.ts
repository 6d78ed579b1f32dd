import { describe, expect, it } from 'vitest'
import { ChatTemplate } from '../../lib/policy/chat-template.js'
import { Conversation, type HistoryMode } from '../../lib/rollout/conversation.js'
import { qwen3Folder, qwen3Tokenizer } from '../policy/qwen3-tokenizer.js'
import { type Family, family } from '../policy/template-fixtures.js'
import { call, start, tools, zeros } from './scripted-conversation.js'

describe('templates that rewrite what was said', () => {
  const think = '<think>\nhm\n</think>\n\n'

  /** A question, a call with thoughts, its result, an answer with thoughts, a second question, an answer. */
  function play(name: Family, history: HistoryMode, inside: string) {
    const played = start({ name, history })
    const { conversation, answer } = played
    conversation.add({ role: 'user', content: 'first' })
    answer(inside + call)
    conversation.add({ role: 'tool', name: 'read', content: 'result' })
    answer(`${inside}done`)
    conversation.add({ role: 'user', content: 'second' })
    answer(`${inside}again`)
    return played
  }

  it('qwen3.5 breaks at the second question: append goes on and says so once', () => {
    const { conversation, tokenizer, prompts } = play('qwen35', 'append', 'hm\n</think>\n\n')
    const text = tokenizer.textOf(prompts[2]!)
    expect(text).toContain('<think>\nhm\n</think>\n\n<tool_call>')
    expect(text).toMatch(
      /done<\|im_end\|>\n<\|im_start\|>user\nsecond<\|im_end\|>\n<\|im_start\|>assistant\n<think>\n$/,
    )
    expect(conversation.warnings.length).toBe(1)
    expect(conversation.warnings[0]).toBe(
      'history "append" keeps what was sampled, but a fresh rendering differs at messages[1] (assistant) once ' +
        'messages[4] (user) follows: expected "<think>\\nhm\\n</think>\\n\\n<tool_call>\\n<function", ' +
        'the chat template writes "<tool_call>\\n<function=read>\\n<parameter=pat"',
    )
    expect(conversation.sequences().length).toBe(1)
  })

  it('qwen3.5 in rerender: the third prompt is a fresh one, in a new sequence', () => {
    const { conversation, tokenizer, prompts } = play('qwen35', 'rerender', 'hm\n</think>\n\n')
    const [first, second, ...more] = conversation.sequences()
    expect(more).toEqual([])
    expect([first!.turns.length, second!.turns.length]).toEqual([2, 1])
    expect(tokenizer.textOf(prompts[2]!)).not.toContain('hm')
    expect([...second!.tokens.slice(0, prompts[2]!.length)]).toEqual(prompts[2])
    expect(second!.generated.slice(0, prompts[2]!.length).every((flag) => flag === 0)).toBe(true)
    expect(conversation.warnings).toEqual([])
  })

  it('qwen3.5 in strict: the second question is refused, naming the message', () => {
    const error = { code: 'ERR_HISTORY', message: expect.stringMatching(/messages\[1\] \(assistant\)/) }
    expect(() => play('qwen35', 'strict', 'hm\n</think>\n\n')).toThrow(expect.objectContaining(error))
  })

  it('a template with an end token after the last turn only breaks at every turn', () => {
    const appended = play('end-after-last', 'append', '')
    expect(appended.conversation.warnings.length).toBe(1)
    expect(appended.tokenizer.textOf(appended.prompts[1]!)).toContain(
      '<|endoftext|>\n[tool]\nresult\n[assistant]\n',
    )
    const rerendered = play('end-after-last', 'rerender', '')
    expect(rerendered.conversation.sequences().map(({ turns }) => turns.length)).toEqual([1, 1, 1])
    expect(rerendered.tokenizer.textOf(rerendered.prompts[2]!)).not.toContain('<|endoftext|>')
    expect(() => play('end-after-last', 'strict', '')).toThrow(
      expect.objectContaining({ code: 'ERR_HISTORY' }),
    )
  })

  it('llama3 trims answers: a new sequence shares the turns before', () => {
    const { conversation, answer, tokenizer } = start({ name: 'llama3', history: 'rerender' })
    conversation.add({ role: 'user', content: 'a' })
    answer('first')
    conversation.add({ role: 'user', content: 'b' })
    answer('second \n')
    conversation.add({ role: 'user', content: 'c' })
    answer('third')
    const [one, two] = conversation.sequences()
    expect([one!.turns.length, two!.turns.length]).toEqual([2, 1])
    // The ids of the first turn are bytes, as sampled; a fresh encoding would have merged them.
    const shared = one!.turns[0]!.end
    expect([...two!.tokens.slice(0, shared)]).toEqual([...one!.tokens.slice(0, shared)])
    expect(tokenizer.textOf(two!.tokens)).toContain('second<|eot_id|>')
  })

  it('changed tools are told apart from changed messages', () => {
    const { conversation, answer } = start({ name: 'qwen25' })
    conversation.add({ role: 'user', content: 'a' })
    answer('b')
    conversation.add({ role: 'user', content: 'c' })
    conversation.promptForGeneration({ tools: [{ ...tools[0]!, name: 'other' }] })
    expect(conversation.warnings[0]).toMatch(/with the changed tools/)
  })

  it('warns through the callback', () => {
    const { template, tokenizer } = family('end-after-last')
    const heard: string[] = []
    const conversation = new Conversation({
      template,
      tokenizer,
      onWarning: (message) => heard.push(message),
    })
    for (const content of ['a', 'b', 'c']) {
      conversation.add({ role: 'user', content })
      conversation.appendAssistant(think)
    }
    expect(heard.length).toBe(1)
    expect(heard).toEqual(conversation.warnings)
  })
})

describe('Qwen3 with its own tokenizer and template', async () => {
  const tokenizer = qwen3Tokenizer()
  const template = await ChatTemplate.load(qwen3Folder)
  const variables = { enable_thinking: false }

  function play(history: HistoryMode) {
    const conversation = new Conversation({ template, tokenizer, tools, history, variables })
    const prompts: Int32Array[] = []
    conversation.add({ role: 'user', content: 'Alla 北京 🦊?' })
    for (const text of [call, 'done']) {
      prompts.push(conversation.promptForGeneration())
      const ids = tokenizer.encode(`${text}<|im_end|>`)
      conversation.appendGenerated(ids, zeros(ids), 'stop')
      if (text === call) conversation.add({ role: 'tool', name: 'read', content: 'result' })
    }
    return { conversation, prompts }
  }

  it('append: the empty block of thoughts stays, and id 198 stands between the turns', () => {
    const { conversation, prompts } = play('append')
    const { tokens, turns } = conversation.sequences()[0]!
    expect([...tokens.slice(turns[0]!.end - 1, turns[0]!.end + 2)]).toEqual([151645, 198, 151644])
    expect([...prompts[1]!.slice(0, prompts[0]!.length)]).toEqual([...prompts[0]!])
    expect(tokenizer.textOf(prompts[1]!)).toContain(
      `<think>\n\n</think>\n\n${call}<|im_end|>\n<|im_start|>user`,
    )
    expect(conversation.warnings[0]).toMatch(
      /messages\[1\] \(assistant\) once messages\[2\] \(tool\) follows/,
    )
  })

  it('rerender: what a server would send, in two sequences', () => {
    const { conversation, prompts } = play('rerender')
    const fresh = template.render(conversation.messages.slice(0, 3), {
      tools,
      addGenerationPrompt: true,
      variables,
    })
    expect([...prompts[1]!]).toEqual([...tokenizer.encode(fresh)])
    expect(conversation.sequences().map(({ turns }) => turns.length)).toEqual([1, 1])
  })

  it('strict: refuses', () => {
    expect(() => play('strict')).toThrow(expect.objectContaining({ code: 'ERR_HISTORY' }))
  })
})
