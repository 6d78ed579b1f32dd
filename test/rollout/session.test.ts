import { beforeEach, expect, test } from 'vitest'
import { SkillgateError } from '../../lib/errors.js'
import { turnSeed } from '../../lib/rollout/seeds.js'
import { RolloutSession } from '../../lib/rollout/session.js'
import type { SessionOptions } from '../../lib/rollout/session-options.js'
import type { Slate } from '../../lib/skills/skill.js'
import { callText, logprobAt, ScriptedPolicy, template, tokenizer } from './scripted-policy.js'

const skill = (name: string) => ({
  ...{ name, description: `about ${name}`, location: `/skills/${name}/SKILL.md` },
  content: `how to ${name}`,
})
const slate: Slate = {
  candidates: [
    { skill: skill('weave'), category: 'misleading' },
    { skill: skill('sew'), category: 'oracle' },
  ],
  labelled: true,
}
const read = callText('read', { path: '/skills/sew/SKILL.md' })
const say = (text: string) => callText('say', { text })

let stop: AbortController
let model: ScriptedPolicy
beforeEach(() => {
  stop = new AbortController()
})

/** A session whose turns are the given texts, in order. */
function opened(
  turns: string[],
  options: Partial<SessionOptions> = {},
  over: { slate?: Slate } = {},
): RolloutSession {
  model = new ScriptedPolicy(() => turns[model.requests.length - 1] ?? 'nothing left')
  const start = {
    task: { id: 't', prompt: 'p' },
    slate,
    seed: 77,
    group: 2,
    index: 5,
    signal: stop.signal,
    ...over,
  }
  return new RolloutSession(start, { policy: model.policy, tokenizer, template, ...options })
}
const codeOf = (run: () => unknown) =>
  Promise.resolve()
    .then(run)
    .then(
      () => expect.unreachable('the call was accepted'),
      (cause: unknown) => (cause as SkillgateError).code,
    )

test('an episode becomes a trajectory: ids as sampled, masks, logprobs, calls, messages', async () => {
  const session = opened([`Let me see.\n${read}`, 'Done ✂️'])
  session.system('be brief')
  session.user('sew')
  const first = await session.generate()
  expect(first).toMatchObject({ content: 'Let me see.', finishReason: 'stop', malformed: [] })
  expect(first.toolCalls).toEqual([
    { id: 'call-1-1', name: 'read', arguments: { path: '/skills/sew/SKILL.md' } },
  ])
  session.toolResult(first.toolCalls[0]!, 'how to sew')
  const second = await session.generate()
  expect(second).toMatchObject({ text: 'Done ✂️', content: 'Done ✂️', toolCalls: [] })

  const trajectory = session.finish({ reward: 0.5, details: { stitches: 3 } })
  expect(trajectory).toMatchObject({
    ...{ task: 't', group: 2, index: 5, seed: 77, policyVersion: 3, labelled: true, reads: [] },
    ...{ reward: 0.5, details: { stitches: 3 }, truncated: false, turns: 2 },
  })
  expect(trajectory.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
  expect(trajectory.slate).toEqual([
    { name: 'weave', location: '/skills/weave/SKILL.md', category: 'misleading' },
    { name: 'sew', location: '/skills/sew/SKILL.md', category: 'oracle' },
  ])
  const [sequence] = trajectory.sequences
  const { tokens, generated, logprobs, turns } = sequence!
  expect(tokenizer.textOf(tokens)).toBe(
    '<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nsew<|im_end|>\n<|im_start|>assistant\n' +
      `Let me see.\n${read}<|im_end|>\n<|im_start|>tool\nhow to sew<|im_end|>\n<|im_start|>assistant\nDone ✂️<|im_end|>`,
  )
  expect(turns.map(({ start, end }) => tokenizer.textOf(tokens.slice(start, end)))).toEqual([
    `Let me see.\n${read}<|im_end|>`,
    'Done ✂️<|im_end|>',
  ])
  expect(generated.reduce((a, b) => a + b, 0)).toBe(first.tokens + second.tokens)
  for (const [t, token] of tokens.entries())
    expect(logprobs[t]).toBe(turns.some(({ start, end }) => t >= start && t < end) ? logprobAt(token, t) : 0)
  const { bytes, ...call } = trajectory.calls[0]!
  expect(call).toEqual({
    id: 'call-1-1',
    tool: 'read',
    arguments: { path: '/skills/sew/SKILL.md' },
    sequence: 0,
    turn: 0,
  })
  const turnText = Buffer.from(first.text)
  expect(turnText.subarray(bytes.start, bytes.end).toString()).toBe(read)
})

test('each context extends the one before, in one cache, with a seed for each turn', async () => {
  const session = opened(['a', 'b', 'c'], { sampling: { temperature: 0.5, topP: 0.9 } })
  for (const text of ['one', 'two', 'three']) {
    session.user(text)
    await session.generate({ maxTokens: 9 })
  }
  for (const [i, request] of model.requests.entries()) {
    expect(request).toMatchObject({
      temperature: 0.5,
      topP: 0.9,
      seed: turnSeed(77, i),
      maxTokens: 9,
      signal: stop.signal,
    })
    expect(request.stopTokens).toContain(tokenizer.idOf('<|im_end|>'))
    expect(request.session).toBe(model.requests[0]!.session)
    const before = model.requests[i - 1]?.tokens ?? new Int32Array(0)
    expect(request.tokens.slice(0, before.length)).toEqual(before)
  }
  expect(new Set(model.requests.map((request) => request.seed)).size).toBe(3)
})

test('the same start gives the same trajectory', async () => {
  const play = async () => {
    const session = opened(['a', 'b'])
    session.user('u')
    await session.generate()
    return session.finish({ reward: 1 })
  }
  expect(await play()).toEqual(await play())
})

test('only a call that got its result back is dispatched, in order of appearance', async () => {
  const session = opened([`${say('1')}${say('2')}${say('3')}`, 'end'])
  session.user('u')
  const { toolCalls } = await session.generate()
  session.toolResult(toolCalls[2]!, 'third')
  session.toolError('no such tool', 'say')
  session.toolResult(toolCalls[0]!, 'first')
  expect(await codeOf(() => session.toolResult(toolCalls[0]!, 'again'))).toBe('ERR_TOOL_CALL')
  await session.generate()
  expect(await codeOf(() => session.toolResult(toolCalls[1]!, 'late'))).toBe('ERR_TOOL_CALL')
  const { calls, messages } = session.finish({ reward: 0 })
  expect(calls.map((call) => call.id)).toEqual(['call-1-1', 'call-1-3'])
  expect(messages.filter((m) => m.role === 'tool')).toEqual([
    { role: 'tool', content: 'third', name: 'say' },
    { role: 'tool', content: 'no such tool', name: 'say' },
    { role: 'tool', content: 'first', name: 'say' },
  ])
})

test('a call cut off by the token limit never runs, nor do those before it in the turn', async () => {
  const text = `${say('whole')}${say('this one is long')}`
  const session = opened([text], { maxTokensPerTurn: Buffer.byteLength(text) - 5 })
  session.user('u')
  const turn = await session.generate()
  expect(turn).toMatchObject({ finishReason: 'length', toolCalls: [] })
  expect(turn.malformed[0]!.reason).toMatch(/cut off/)
  expect(session.finish({ reward: 0 })).toMatchObject({ truncated: true, calls: [] })
})

test('whole calls of a turn that was cut off behind them may run', async () => {
  const session = opened([`${say('whole')} and then I talk for long`], {
    maxTokensPerTurn: say('whole').length + 6,
  })
  session.user('u')
  const turn = await session.generate()
  expect(turn.finishReason).toBe('length')
  expect(turn.toolCalls.map((call) => call.name)).toEqual(['say'])
})

test('a turn that the model ended inside a call keeps its whole calls', async () => {
  const session = opened([`${say('whole')}<tool_call>{"name"`])
  session.user('u')
  const turn = await session.generate()
  expect(turn).toMatchObject({ finishReason: 'stop', toolCalls: [{ name: 'say' }], malformed: [{}] })
})

test('a turn cut off inside a character keeps its bytes', async () => {
  const session = opened(['x✂️'], { maxTokensPerTurn: 3 })
  session.user('u')
  expect((await session.generate()).text).toBe('x\ufffd')
  const { sequences } = session.finish({ reward: 0 })
  expect(Array.from(sequences[0]!.tokens.slice(-3))).toEqual(Array.from(tokenizer.encode('x✂️').slice(0, 3)))
})

test('the context limit bounds a turn, then refuses the next by name', async () => {
  const session = opened(['a'.repeat(500), 'b'], { maxTokens: 100 })
  session.user('u')
  const turn = await session.generate()
  expect(turn.finishReason).toBe('length')
  expect(session.remainingTokens).toBe(0)
  session.user('more')
  await expect(session.generate()).rejects.toThrow(
    /fewer than 100 tokens \(maxTokens\), got \d+ before turn 2/,
  )
  const { sequences, truncated, turns } = session.finish({ reward: 0 })
  expect(sequences[0]!.tokens.length).toBe(100)
  expect([truncated, turns]).toEqual([true, 1])
})

test('the model may take less than was asked for', async () => {
  const session = opened(['a'])
  model.maxContext = 10
  const small = new RolloutSession(
    { task: { id: 't', prompt: '' }, slate, seed: 1, group: 0, index: 0, signal: stop.signal },
    { policy: model.policy, tokenizer, template },
  )
  small.user('a long question')
  await expect(small.generate()).rejects.toThrow(/10 tokens \(all the model takes\)/)
  expect(session.remainingTokens).toBe(71_680)
})

test('turns are limited', async () => {
  const session = opened(['a', 'b', 'c'], { maxTurns: 2 })
  session.user('u')
  await session.generate()
  await session.generate()
  expect(await codeOf(() => session.generate())).toBe('ERR_TURN_LIMIT')
  expect(model.requests).toHaveLength(2)
})

test('nothing may be added while a turn is sampled, nor after the end', async () => {
  const session = opened(['a', 'b'])
  let arrive = () => {}
  model.wait = () => new Promise((resolve) => (arrive = resolve))
  session.user('u')
  const turn = session.generate()
  expect(await codeOf(() => session.user('x'))).toBe('ERR_SESSION_BUSY')
  expect(await codeOf(() => session.generate())).toBe('ERR_SESSION_BUSY')
  arrive()
  await turn
  session.finish({ reward: 0 })
  expect(await codeOf(() => session.user('x'))).toBe('ERR_SESSION_CLOSED')
  expect(await codeOf(() => session.generate())).toBe('ERR_SESSION_CLOSED')
  expect(model.open).toBe(0)
})

test('a turn that comes after the end of the episode is dropped', async () => {
  const session = opened(['a'])
  let arrive = () => {}
  model.wait = () => new Promise((resolve) => (arrive = resolve))
  session.user('u')
  const turn = codeOf(() => session.generate())
  await new Promise((resolve) => setImmediate(resolve))
  const trajectory = session.finish({ failure: { code: 'ERR_DEADLINE', message: 'late' } })
  arrive()
  expect(await turn).toBe('ERR_SESSION_CLOSED')
  expect(trajectory).toMatchObject({
    reward: null,
    failure: { code: 'ERR_DEADLINE' },
    turns: 0,
    sequences: [],
  })
  expect(model.open).toBe(0)
})

test('an abort ends the turn with its reason', async () => {
  const session = opened(['a'])
  model.wait = async () => stop.abort(new SkillgateError('ERR_DEADLINE', 'too late'))
  session.user('u')
  expect(await codeOf(() => session.generate())).toBe('ERR_DEADLINE')
  expect(await codeOf(() => session.generate())).toBe('ERR_DEADLINE')
  expect(session.finish({ reward: 0 }).sequences).toEqual([])
})

test('an error of the policy leaves the session usable', async () => {
  const session = opened(['unused', 'fine'])
  model.wait = async () => {
    if (model.requests.length === 1) throw new Error('no memory')
  }
  session.user('u')
  await expect(session.generate()).rejects.toThrow('no memory')
  expect((await session.generate()).text).toBe('fine')
})

test('shows and reads skills', () => {
  const session = opened([])
  expect(session.availableSkills()).toContain('<name>sew</name>')
  expect(session.readSkill('/skills/sew/SKILL.md')).toBe('how to sew')
  expect(session.readSkill('/skills/knit/SKILL.md')).toBeUndefined()
  const bare = opened([], {}, { slate: { candidates: [], labelled: false } })
  expect(bare.availableSkills()).toBe('')
  expect(bare.finish({ reward: 0 })).toMatchObject({ slate: [], labelled: false })
})

test('a long tool result keeps head and tail', async () => {
  const session = opened([say('x'), 'end'], { maxResultTokens: 64 })
  session.user('u')
  const { toolCalls } = await session.generate()
  session.toolResult(toolCalls[0]!, `HEAD${'-'.repeat(500)}TAIL`)
  const { content } = session.finish({ reward: 0 }).messages.at(-1)!
  expect(content).toMatch(/^HEAD-+\n\[\.\.\. \d+ tokens left out \.\.\.\]\n-+TAIL$/)
  expect(tokenizer.encode(content).length).toBeLessThanOrEqual(64)
})

test.each([[undefined], [null], [7], [{}]])('content %o is refused', async (content) => {
  expect(await codeOf(() => opened([]).user(content as unknown as string))).toBe('ERR_MESSAGE')
})

test.each([0, -1, 1.5, Number.NaN])('maxTokens %d of a turn is refused', async (maxTokens) => {
  const session = opened(['a'])
  session.user('u')
  expect(await codeOf(() => session.generate({ maxTokens }))).toBe('ERR_INVALID_OPTION')
})
