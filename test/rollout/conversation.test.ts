import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatTemplate } from '../../lib/policy/chat-template.js'
import { Tokenizer } from '../../lib/policy/tokenizer.js'
import { Conversation, type HistoryMode } from '../../lib/rollout/conversation.js'
import { qwen3Folder, qwen3Tokenizer } from '../policy/qwen3-tokenizer.js'
import { type Family, family } from '../policy/template-fixtures.js'
import { sentencePieceFiles } from '../policy/tiny-tokenizers.js'

const tools = [{ name: 'read', description: 'Reads', parameters: { type: 'object', properties: {} } }]
const call =
  '<tool_call>\n<function=read>\n<parameter=path>\n/a/北.md\n</parameter>\n</function>\n</tool_call>'

/** A text as a model may sample it: any cut of its bytes into tokens, not the one that `encode` makes. */
function sampledBytes(tokenizer: Tokenizer, text: string, end: string | null): Int32Array {
  const ids = [...tokenizer.encode(text)].flatMap((id) =>
    tokenizer.isAdded(id) ? [id] : [...tokenizer.bytesOf(id)],
  )
  return Int32Array.from(end === null ? ids : [...ids, tokenizer.idOf(end)!])
}

const zeros = (tokens: Int32Array) => Float32Array.from(tokens, (_, i) => -1 - i)

interface Play {
  name: Family
  history?: HistoryMode
  variables?: Record<string, unknown>
}

function start({ name, history, variables }: Play) {
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

const ends: Record<Family, string> = {
  qwen25: '<|im_end|>',
  qwen35: '<|im_end|>',
  llama3: '<|eot_id|>',
  phi3: '<|end|>',
  glm4: '<|endoftext|>',
  'end-after-last': '<|endoftext|>',
}
const families = Object.keys(ends) as Family[]

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

describe('properties', () => {
  const turn = fc.record({
    text: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constantFrom('', ' ', '\n', call, 'x</think>y'),
    ),
    cut: fc.boolean(),
    next: fc.constantFrom('user' as const, 'tool' as const),
    content: fc.string({ unit: 'grapheme', maxLength: 20 }),
  })

  for (const history of ['append', 'rerender'] as const) {
    it(`${history}: lengths agree, every sampled id is generated once and as it was sampled`, () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...families),
          fc.array(turn, { minLength: 1, maxLength: 5 }),
          (name, turns) => {
            const { conversation, tokenizer, answer, prompts, end } = start({ name, history })
            conversation.add({ role: 'user', content: 'go' })
            const sampled: number[][] = []
            for (const { text, cut, next, content } of turns) {
              const ended = cut ? null : end
              sampled.push([...sampledBytes(tokenizer, text, ended)])
              answer(text, ended)
              conversation.add({ role: next, content })
            }
            const sequences = conversation.sequences()
            const recorded: number[][] = []
            for (const { tokens, generated, logprobs, turns: ranges } of sequences) {
              expect([generated.length, logprobs.length]).toEqual([tokens.length, tokens.length])
              const flags = new Uint8Array(tokens.length)
              for (const { start: from, end: to } of ranges) {
                flags.fill(1, from, to)
                recorded.push([...tokens.slice(from, to)])
              }
              expect(generated).toEqual(flags)
              expect(logprobs.every((value, i) => (generated[i] ? value < 0 : value === 0))).toBe(true)
            }
            expect(recorded).toEqual(sampled)
            if (history === 'append') {
              expect(sequences.length).toBe(1)
              for (const [i, prompt] of prompts.entries()) {
                expect([...sequences[0]!.tokens.slice(0, prompt.length)]).toEqual(prompt)
                const earlier = prompts[i - 1] ?? []
                expect(prompt.slice(0, earlier.length)).toEqual(earlier)
              }
            }
          },
        ),
        { numRuns: 80 },
      )
    })
  }

  it('rerender: the text of every prompt is the fresh rendering', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...families),
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        (name, turns) => {
          const { conversation, tokenizer, answer, end, render } = start({ name, history: 'rerender' })
          conversation.add({ role: 'user', content: 'go' })
          for (const { text, cut, next, content } of turns) {
            expect(tokenizer.textOf(conversation.promptForGeneration())).toBe(render())
            answer(text, cut ? null : end)
            conversation.add({ role: next, content })
          }
        },
      ),
      { numRuns: 60 },
    )
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
