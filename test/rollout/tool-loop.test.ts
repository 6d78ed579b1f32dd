import { beforeEach, expect, test } from 'vitest'
import { ChatTemplate } from '../../lib/policy/chat-template.js'
import { RolloutSession } from '../../lib/rollout/session.js'
import type { SessionOptions } from '../../lib/rollout/session-options.js'
import { type Tool, type ToolEpisode, type ToolLoopOptions, toolLoop } from '../../lib/rollout/tool-loop.js'
import type { Trajectory } from '../../lib/rollout/trajectory.js'
import type { Slate } from '../../lib/skills/skill.js'
import { callText, ScriptedPolicy, template, tokenizer } from './scripted-policy.js'

const sew = { name: 'sew', description: 'd', location: '/skills/sew/SKILL.md', content: 'how to sew' }
const slate: Slate = { candidates: [{ skill: sew, category: 'oracle' }], labelled: true }
const bare: Slate = { candidates: [], labelled: false }
const parameters = { type: 'object', properties: {} }
const tool = (name: string, run: Tool['run']): Tool => ({ name, description: `to ${name}`, parameters, run })
const add = tool('add', ({ a, b }) => Number(a) + Number(b))

let stop: AbortController
beforeEach(() => {
  stop = new AbortController()
})

interface Played {
  episode: ToolEpisode
  trajectory: Trajectory
  results: string[]
  model: ScriptedPolicy
}

/** Plays an episode whose turns are the given texts. */
async function play(
  turns: string[],
  loop: Partial<ToolLoopOptions> = {},
  session: Partial<SessionOptions> = {},
  shown = bare,
): Promise<Played> {
  const model: ScriptedPolicy = new ScriptedPolicy(() => turns[model.requests.length - 1] ?? 'no more')
  const task = { id: 't', prompt: 'the task' }
  const start = { task, slate: shown, seed: 1, group: 0, index: 0, signal: stop.signal }
  const opened = new RolloutSession(start, { policy: model.policy, tokenizer, template, ...session })
  let episode: ToolEpisode | undefined
  const reward = (ended: ToolEpisode) => {
    episode = ended
    return 1
  }
  const outcome = await toolLoop({ tools: [add], reward, ...loop })(opened, task)
  const trajectory = opened.finish(typeof outcome === 'number' ? { reward: outcome } : outcome)
  const results = trajectory.messages.filter((m) => m.role === 'tool').map((m) => m.content)
  return { episode: episode!, trajectory, results, model }
}

test('runs the calls of each turn until one has none', async () => {
  const call = callText('add', { a: 2, b: 3 })
  const { episode, trajectory, results } = await play([
    `${call}\n${callText('add', { a: 4, b: 5 })}`,
    call,
    'It is 5.',
  ])
  expect(results).toEqual(['5', '9', '5'])
  expect(episode).toMatchObject({ ended: 'answer', answer: 'It is 5.', task: { id: 't' } })
  expect(episode.turns).toHaveLength(3)
  expect(episode.calls.map(({ result, failed }) => [result, failed])).toEqual([
    ['5', false],
    ['9', false],
    ['5', false],
  ])
  expect(trajectory.calls.map((c) => c.id)).toEqual(['call-1-1', 'call-1-2', 'call-2-1'])
  expect(trajectory.messages.map((m) => m.role).join()).toBe(
    'user,assistant,tool,tool,assistant,tool,assistant',
  )
})

test('shows the slate and a tool to read it', async () => {
  const read = callText('read', { path: sew.location })
  const missing = callText('read', { path: '/etc/passwd' })
  const { trajectory, results } = await play([read + missing, 'done'], { system: 'Be brief.' }, {}, slate)
  expect(trajectory.messages[0]!.role).toBe('system')
  expect(trajectory.messages[0]!.content).toMatch(/^Be brief\.\n\n<available_skills>(.|\n)*sew/)
  expect(results).toEqual(['how to sew', 'Error: no such file: /etc/passwd'])
})

test('without skills there is no system prompt of its own and no read tool', async () => {
  const { trajectory, results } = await play([callText('read', { path: 'x' }), 'done'])
  expect(trajectory.messages[0]).toEqual({ role: 'user', content: 'the task' })
  expect(results).toEqual(["Error: no tool 'read'. Tools: add"])
})

test('a read tool of the user takes the place of the built-in one', async () => {
  const own = tool('read', () => 'mine')
  const { results } = await play(
    [callText('read', { path: sew.location }), 'done'],
    { tools: [own] },
    {},
    slate,
  )
  expect(results).toEqual(['mine'])
})

test('the system prompt may depend on the task', async () => {
  const { trajectory } = await play(['done'], { system: (task) => `about ${task.id}` })
  expect(trajectory.messages[0]).toEqual({ role: 'system', content: 'about t' })
})

test('a tool that throws gives its message back and counts as dispatched', async () => {
  const fail = tool('fail', () => {
    throw new Error('out of paper')
  })
  const reject = tool('reject', () => Promise.reject('no'))
  const turns = [callText('fail', {}) + callText('reject', {}), 'done']
  const { episode, results, trajectory } = await play(turns, { tools: [fail, reject] })
  expect(results).toEqual(['Error: out of paper', 'Error: no'])
  expect(episode.calls.map(({ failed }) => failed)).toEqual([true, true])
  expect(trajectory.calls).toHaveLength(2)
})

test('an unknown tool and a malformed call are explained, and neither is dispatched', async () => {
  const turns = [
    `${callText('fly', {})}<tool_call>{"name": </tool_call>${callText('add', { a: 1, b: 1 })}`,
    'done',
  ]
  const { episode, results, trajectory } = await play(turns)
  expect(results[0]).toBe("Error: no tool 'fly'. Tools: add")
  expect(results[1]).toBe('2')
  expect(results[2]).toMatch(/^Error: the call did not run: .*JSON/)
  expect(trajectory.calls.map((c) => c.tool)).toEqual(['add'])
  expect(episode.ended).toBe('answer')
})

test.each([
  [() => 'text', 'text'],
  [() => undefined, ''],
  [() => null, 'null'],
  [async () => ({ a: [1, 2] }), '{"a":[1,2]}'],
  [() => 12n, '"12"'],
  [() => () => 1, ''],
])('a result %# becomes text', async (run, text) => {
  expect((await play([callText('t', {}), 'done'], { tools: [tool('t', run)] })).results).toEqual([text])
})

test('a result that JSON cannot hold is an error of the call', async () => {
  const circle: { self?: object } = {}
  circle.self = circle
  const { results } = await play([callText('t', {}), 'done'], { tools: [tool('t', () => circle)] })
  expect(results[0]).toMatch(/^Error: .*circular/)
})

test('a tool sees the task, its call and the session', async () => {
  const seen: unknown[] = []
  const look = tool('look', (args, { task, call, session, signal }) => {
    seen.push(args, task.id, call.id, session.seed, signal === session.signal)
  })
  await play([callText('look', { at: 'it' }), 'done'], { tools: [look] })
  expect(seen).toEqual([{ at: 'it' }, 't', 'call-1-1', 1, true])
})

const again = callText('add', { a: 1, b: 1 })
test.each<[string, Partial<ToolLoopOptions>, Partial<SessionOptions>, ToolEpisode['ended'], number]>([
  ['the loop', { maxTurns: 2 }, {}, 'turns', 2],
  ['the session', {}, { maxTurns: 3 }, 'turns', 3],
  ['the context', { tools: [tool('add', () => 'x'.repeat(400))] }, { maxTokens: 300 }, 'tokens', 1],
  ['a turn', { maxTokensPerTurn: 20 }, {}, 'cut-off', 1],
])('ends at the limit of %s and is scored', async (_, loop, session, ended, turns) => {
  const { episode, trajectory } = await play([again, again, again, again, again], loop, session)
  expect(episode.ended).toBe(ended)
  expect(episode.turns).toHaveLength(turns)
  expect(trajectory).toMatchObject({ reward: 1, turns, truncated: ended === 'tokens' || ended === 'cut-off' })
})

test('the reward may be late and have details', async () => {
  const { trajectory } = await play(['a'], {
    reward: async () => ({ reward: 0.25, details: { why: 'slow' } }),
  })
  expect(trajectory).toMatchObject({ reward: 0.25, details: { why: 'slow' } })
})

test('a deadline ends the loop in the middle of a tool that never returns', async () => {
  const hang = tool('hang', () => {
    stop.abort(new Error('late'))
    return new Promise(() => {})
  })
  await expect(play([callText('hang', {})], { tools: [hang] })).rejects.toThrow('late')
})

test('the prompt offers each tool once, the same list every turn', async () => {
  const listing = new ChatTemplate({
    template: `{% for t in tools or [] %}[{{ t.function.name }}]{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}`,
  })
  const { model } = await play([again, 'done'], {}, { template: listing }, slate)
  const contexts = model.requests.map(({ tokens }) => tokenizer.textOf(tokens))
  expect(contexts[0]).toMatch(/^\[read\]\[add\]<available_skills>/)
  expect(contexts[1]!.startsWith(contexts[0]!)).toBe(true)
})

test.each([
  [{ tools: [add, add] }, /'add' twice/],
  [{ tools: [{ name: 'x' }] as unknown as Tool[] }, /tools\[0\]/],
  [{ tools: [null] as unknown as Tool[] }, /tools\[0\]/],
  [{ tools: [], maxTurns: 0 }, /maxTurns, got 0/],
])('refuses %o', (options, message) => {
  expect(() => toolLoop({ reward: () => 0, ...options })).toThrow(message)
})
