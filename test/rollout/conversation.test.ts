import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ChatTemplate } from '../../lib/policy/chat-template.js'
import { Tokenizer } from '../../lib/policy/tokenizer.js'
import { Conversation, type HistoryMode } from '../../lib/rollout/conversation.js'
import { sentencePieceFiles } from '../policy/tiny-tokenizers.js'
import { call, ends, families, start, zeros } from './scripted-conversation.js'

describe('the end of a turn', () => {
  for (const name of families) {
    it(`of ${name} is found without knowing the template`, () => {
      const { conversation, tokenizer } = start({ name })
      expect(tokenizer.textOf([conversation.stopTokens[0]!])).toBe(ends[name])
    })
  }

  it('stops at every end token of the model', () => {
    const { conversation, tokenizer } = start({ name: 'qwen25' })
    expect(conversation.stopTokens.map((id) => tokenizer.textOf([id]))).toEqual([
      '<|im_end|>',
      '<|endoftext|>',
    ])
  })
})

describe('templates that extend what was said', () => {
  for (const name of ['qwen25', 'llama3', 'phi3', 'glm4'] as const) {
    it(`${name}: every prompt is the fresh rendering's ids, in all modes`, () => {
      for (const history of ['append', 'rerender', 'strict'] as const) {
        const { conversation, tokenizer, prompts, render } = start({ name, history })
        conversation.add({ role: 'system', content: 'Be brief.' })
        conversation.add({ role: 'user', content: 'hello wor' })
        const ended = name === 'glm4' ? '<|observation|>' : ends[name]
        for (let turn = 0; turn < 3; turn++) {
          const prompt = conversation.promptForGeneration()
          prompts.push([...prompt])
          expect(tokenizer.textOf(prompt)).toBe(render())
          expect([...prompt]).toEqual([...tokenizer.encode(render())])
          const ids = tokenizer.encode(`the ${call}${ended}`)
          conversation.appendGenerated(ids, zeros(ids), 'stop')
          conversation.add({ role: 'tool', name: 'read', content: `result ${turn} 北京` })
        }
        expect(conversation.warnings).toEqual([])
        expect(conversation.sequences().length).toBe(1)
        expect(conversation.sequences()[0]!.turns.length).toBe(3)
      }
    })
  }

  it('keeps the newline between the end token and the next turn as template text', () => {
    const { conversation, tokenizer, answer } = start({ name: 'qwen25' })
    conversation.add({ role: 'user', content: 'a' })
    answer('b')
    conversation.add({ role: 'user', content: 'c' })
    answer('d')
    const { tokens, generated, turns } = conversation.sequences()[0]!
    const between = tokens.slice(turns[0]!.end, turns[1]!.start)
    expect(tokenizer.textOf(between)).toBe('\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n')
    expect(generated.slice(turns[0]!.end, turns[1]!.start).every((flag) => flag === 0)).toBe(true)
    expect(tokenizer.textOf(tokens.slice(turns[0]!.start, turns[0]!.end))).toBe('b<|im_end|>')
  })

  it('never doubles a BOS, though the tokenizer would add one', () => {
    const { conversation, tokenizer, answer, prompts } = start({ name: 'llama3' })
    conversation.add({ role: 'user', content: 'a' })
    answer('b')
    conversation.add({ role: 'user', content: 'c' })
    answer('d')
    expect(prompts.map((ids) => ids.filter((id) => id === tokenizer.bosId).length)).toEqual([1, 1])
  })

  it('does not take phi3 to end its conversation after every answer', () => {
    const { conversation, tokenizer, answer, prompts } = start({ name: 'phi3', history: 'strict' })
    conversation.add({ role: 'user', content: 'a' })
    answer('b')
    conversation.add({ role: 'user', content: 'c' })
    answer('d')
    expect(prompts[1]).not.toContain(tokenizer.eosId)
  })

  it('takes the role of the next turn from its end token in glm4', () => {
    const { conversation, tokenizer, answer, prompts } = start({ name: 'glm4', history: 'strict' })
    conversation.add({ role: 'user', content: 'a' })
    answer('b', '<|observation|>')
    conversation.add({ role: 'tool', content: 'r' })
    answer('c', '<|user|>')
    const text = '<|user|>\na<|assistant|>\nb<|observation|>\nr<|assistant|>\n'
    expect(tokenizer.textOf(prompts[1]!).endsWith(text)).toBe(true)
  })
})

describe('a tokenizer that puts a space before every text', () => {
  it('gives the ids of the fresh rendering, and texts without that space', () => {
    const tokenizer = new Tokenizer({ ...sentencePieceFiles(), endOfTurnIds: [] })
    const source = readFileSync(new URL('../fixtures/templates/phi3.jinja', import.meta.url), 'utf8')
    const template = new ChatTemplate({ template: source, specialTokens: tokenizer.specialTokens })
    const conversation = new Conversation({ template, tokenizer, history: 'strict' })
    for (let turn = 0; turn < 3; turn++) {
      conversation.add({ role: 'user', content: 'hello 北 world' })
      const prompt = conversation.promptForGeneration()
      const fresh = template.render(conversation.messages, { addGenerationPrompt: true })
      expect([...prompt]).toEqual([...tokenizer.encode(fresh)])
      const ids = tokenizer.encodeAfter(prompt.at(-1), 'world, hello<|end|>')
      const answer = conversation.appendGenerated(ids, zeros(ids), 'stop')
      expect(answer.text).toBe('world, hello')
      expect(Buffer.from(answer.bytes).toString()).toBe(' world, hello')
    }
  })
})

describe('a turn that was cut off', () => {
  it('is marked, and closed by the template, not by the policy', () => {
    const { conversation, tokenizer, answer } = start({ name: 'qwen25', history: 'strict' })
    conversation.add({ role: 'user', content: 'a' })
    expect(answer('bc', null)).toMatchObject({ truncated: true, text: 'bc', tokens: 2 })
    expect(conversation.truncated).toBe(true)
    conversation.add({ role: 'user', content: 'd' })
    answer('e')
    const { tokens, generated, turns } = conversation.sequences()[0]!
    expect(tokenizer.textOf(tokens.slice(turns[0]!.end, turns[1]!.start))).toMatch(
      /^<\|im_end\|>\n<\|im_start\|>user/,
    )
    expect(generated[turns[0]!.end]).toBe(0)
  })

  it('is not marked where the last token allowed was the end of the turn', () => {
    const { conversation, tokenizer } = start({ name: 'qwen25' })
    conversation.add({ role: 'user', content: 'a' })
    conversation.promptForGeneration()
    const ids = tokenizer.encode('b<|im_end|>')
    expect(conversation.appendGenerated(ids, zeros(ids), 'length').truncated).toBe(false)
  })

  it('may be cut inside a character', () => {
    const { conversation, answer } = start({ name: 'qwen25', history: 'strict' })
    conversation.add({ role: 'user', content: 'a' })
    conversation.promptForGeneration()
    const turn = conversation.appendGenerated(
      Int32Array.of(98, 0xf0, 0x9f),
      zeros(Int32Array.of(1, 2, 3)),
      'length',
    )
    expect(turn.text).toBe('b\uFFFD')
    expect([...turn.bytes]).toEqual([98, 0xf0, 0x9f])
    conversation.add({ role: 'user', content: 'd' })
    answer('e')
    expect(conversation.sequences()[0]!.generated.reduce((sum, flag) => sum + flag, 0)).toBe(5)
  })
})

describe('another end token than the template writes', () => {
  const play = (history: HistoryMode) => {
    const played = start({ name: 'qwen25', history })
    played.conversation.add({ role: 'user', content: 'a' })
    played.answer('b', '<|endoftext|>')
    played.conversation.add({ role: 'user', content: 'c' })
    return played
  }

  it('stands for it in append, with a warning', () => {
    const { conversation, tokenizer, answer, prompts } = play('append')
    answer('d')
    expect(tokenizer.textOf(prompts[1]!)).toContain('b<|endoftext|>\n<|im_start|>user\nc')
    expect(conversation.warnings.length).toBe(1)
  })

  it('is replaced in a new sequence in rerender', () => {
    const { conversation, tokenizer, answer, prompts } = play('rerender')
    answer('d')
    expect(tokenizer.textOf(prompts[1]!)).toContain('b<|im_end|>\n<|im_start|>user\nc')
    expect(conversation.sequences().length).toBe(2)
  })
})

describe('demonstrations', () => {
  it('train on the text and its end of turn, never on the prompt or earlier examples in it', () => {
    const { conversation, tokenizer } = start({ name: 'qwen25' })
    conversation.add({ role: 'user', content: 'example' })
    conversation.add({ role: 'assistant', content: 'shown only' })
    conversation.add({ role: 'user', content: 'a' })
    conversation.appendAssistant(call)
    conversation.add({ role: 'tool', content: 'r' })
    conversation.appendAssistant('done<|im_end|>')
    const { tokens, generated, logprobs, turns } = conversation.sequences()[0]!
    const texts = turns.map(({ start: from, end: to }) => tokenizer.textOf(tokens.slice(from, to)))
    expect(texts).toEqual([`${call}<|im_end|>`, 'done<|im_end|>'])
    expect(generated.reduce((sum, flag) => sum + flag, 0)).toBe(
      turns.reduce((sum, t) => sum + t.end - t.start, 0),
    )
    expect(logprobs.every((value) => value === 0)).toBe(true)
    expect([...tokens]).toEqual([...tokenizer.encode(tokenizer.textOf(tokens))])
  })

  it('end with the eos token where the template writes no end', () => {
    const { conversation, tokenizer } = start({ name: 'glm4' })
    conversation.add({ role: 'user', content: 'a' })
    conversation.appendAssistant('b')
    expect(tokenizer.textOf(conversation.sequences()[0]!.tokens).endsWith('b<|endoftext|>')).toBe(true)
  })
})

describe('wrong use', () => {
  const refused = (run: () => unknown, message: RegExp) =>
    expect(run).toThrow(
      expect.objectContaining({ code: 'ERR_CONVERSATION', message: expect.stringMatching(message) }),
    )

  it('is named', () => {
    const { conversation } = start({ name: 'qwen25' })
    conversation.add({ role: 'user', content: 'a' })
    const ids = Int32Array.of(1, 2)
    refused(() => conversation.appendGenerated(ids, zeros(ids), 'stop'), /call promptForGeneration first/)
    conversation.promptForGeneration()
    refused(
      () => conversation.appendGenerated(ids, new Float32Array(1), 'stop'),
      /one logprob a token, got 2 and 1/,
    )
    const broken = Float32Array.of(-1, Number.NaN)
    refused(() => conversation.appendGenerated(ids, broken, 'stop'), /finite logprobs, got NaN at token 1/)
    conversation.add({ role: 'user', content: 'b' })
    refused(() => conversation.appendGenerated(ids, zeros(ids), 'stop'), /got 1 messages since/)
    expect(conversation.sequences()).toEqual([])
  })

  it('asking twice for a prompt changes nothing', () => {
    const { conversation, tokenizer } = start({ name: 'end-after-last', history: 'rerender' })
    conversation.add({ role: 'user', content: 'a' })
    conversation.appendAssistant('b')
    conversation.add({ role: 'user', content: 'c' })
    const prompt = conversation.promptForGeneration()
    expect(conversation.promptForGeneration()).toEqual(prompt)
    expect(conversation.length).toBe(prompt.length)
    conversation.add({ role: 'user', content: 'd' })
    expect(tokenizer.textOf(conversation.promptForGeneration())).toContain('c\n[user]\nd\n')
    expect(conversation.sequences().length).toBe(1)
  })
})
