import { expect, test } from 'vitest'
import type { Agent } from '../../lib/rollout/agent.js'
import { type FirstPrompt, firstPrompt } from '../../lib/rollout/first-turn.js'
import { template, tokenizer } from './scripted-policy.js'

const skill = { name: 'one', description: 'd', location: '/skills/one/SKILL.md', content: 'text' }
const start = {
  task: { id: 'a', prompt: 'do it' },
  slate: { candidates: [{ skill }], labelled: false },
  ...{ seed: 9, group: 1, index: 0 },
}
const tools = [{ name: 'read', description: 'd', parameters: {} }]
const ask = (agent: Agent, more: { deadlineMs?: number; maxContext?: number } = {}, run?: AbortSignal) => {
  const session = { tokenizer, template }
  return firstPrompt(start, { agent, session, deadlineMs: 1000, maxContext: 1000, ...more }, run)
}
const speaks: Agent = async (session, task) => {
  session.system(session.availableSkills())
  session.user(task.prompt)
  await session.generate({ tools })
  return 1
}

test('is the context the agent asks its first turn with, and the tools it offers', async () => {
  const prompt = (await ask(speaks)) as FirstPrompt
  const text = tokenizer.textOf(prompt.tokens)
  expect(text).toContain('<location>/skills/one/SKILL.md</location>')
  expect(text.endsWith('<|im_start|>user\ndo it<|im_end|>\n<|im_start|>assistant\n')).toBe(true)
  expect(prompt.tools).toBe(tools)
})

test('an agent that goes on when it is refused is left behind at once', async () => {
  const stubborn: Agent = async (session, task) => {
    session.user(task.prompt)
    for (;;) await session.generate().catch(() => new Promise((resolve) => setTimeout(resolve, 1)))
  }
  expect(await ask(stubborn, { deadlineMs: 60_000 })).toHaveProperty('tokens')
})

test.each<[string, Agent, object, string]>([
  ['ends before', async () => 1, {}, 'ERR_FIRST_TURN'],
  [
    'throws before',
    async () => {
      throw new Error('no server')
    },
    {},
    'ERR_AGENT',
  ],
  ['waits for too long', () => new Promise(() => {}), { deadlineMs: 5 }, 'ERR_DEADLINE'],
  ['says more than the model takes', speaks, { maxContext: 20 }, 'ERR_CONTEXT_LENGTH'],
])('of an agent that %s is the reason why there is none', async (_, agent, more, code) => {
  expect(await ask(agent, more)).toMatchObject({ code })
})

test('a run that is stopped says so', async () => {
  const controller = new AbortController()
  const waiting = ask(() => new Promise(() => {}), {}, controller.signal)
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_ABORTED' })
  await expect(ask(speaks, {}, controller.signal)).rejects.toMatchObject({ code: 'ERR_ABORTED' })
})
