import { describe, expect, it } from 'vitest'
import { maxTurns } from '../../../lib/environments/skill-lab/agent.js'
import { callText } from '../../../lib/environments/skill-lab/call-text.js'
import { demonstration } from '../../../lib/environments/skill-lab/demonstrations.js'
import { skillLab } from '../../../lib/environments/skill-lab/index.js'
import { loadLabLibrary } from '../../../lib/environments/skill-lab/library.js'
import type { AgentSession, AssistantTurn, RolloutOutcome } from '../../../lib/rollout/agent.js'
import { parseToolCalls } from '../../../lib/rollout/tool-calls.js'
import type { Message } from '../../../lib/rollout/trajectory.js'
import { availableSkills } from '../../../lib/skills/available-skills.js'
import { buildSlate } from '../../../lib/skills/slate.js'

const lab = await skillLab({ seed: 0 })
const library = await loadLabLibrary()
const task = lab.trainTasks[0]!
const read = (name: string) => callText('read', { path: `/skills/${name}/SKILL.md` })
const follow = (name: string) => library.procedures.get(name)!.map((command) => callText('run', { command }))

/** Plays given turns; after the last it repeats `Done.`. */
async function play(turns: readonly string[], cutOff = false) {
  const messages: Message[] = []
  const slate = buildSlate(library.skills, task, { seed: 0 })
  let generated = 0
  const session: AgentSession = {
    task,
    slate,
    signal: new AbortController().signal,
    seed: 0,
    remainingTokens: 1000,
    system: (content) => messages.push({ role: 'system', content }),
    user: (content) => messages.push({ role: 'user', content }),
    toolResult: (call, content) => messages.push({ role: 'tool', name: call.name, content }),
    toolError: (content) => messages.push({ role: 'tool', content }),
    availableSkills: () => availableSkills(slate),
    readSkill: (path) => library.skills.byPath(path)?.content,
    async generate(): Promise<AssistantTurn> {
      const text = turns[generated++] ?? 'Done.'
      const { calls, malformed, content } = parseToolCalls(text)
      messages.push({ role: 'assistant', content: text })
      return {
        text,
        content,
        toolCalls: calls.map((call, i) => ({ ...call, id: `call-${generated}-${i}` })),
        malformed,
        finishReason: cutOff ? 'length' : 'stop',
        tokens: 1,
      }
    },
  }
  const outcome = (await lab.agent(session, task)) as RolloutOutcome
  return { outcome, messages, generated }
}

describe('the agent', () => {
  const { skill, decoy } = task.data

  it('succeeds by reading the right skill and running its steps', async () => {
    const { outcome, messages } = await play([read(skill), ...follow(skill)])
    expect(outcome).toMatchObject({ reward: 1, details: { firstError: null } })
    const plan = {
      reads: [skill],
      commands: library.procedures.get(skill)!,
    }
    expect(messages).toEqual(
      demonstration(library, task, plan, buildSlate(library.skills, task, { seed: 0 })).messages,
    )
  })

  it('fails by the steps of the decoy, with the same answers', async () => {
    const { outcome, messages } = await play([read(decoy), ...follow(decoy)])
    expect(outcome.reward).toBe(0)
    const answers = messages.filter((message) => message.role === 'tool').slice(1)
    expect(answers.map((answer) => answer.content)).toEqual(answers.map((_, i) => `[${i + 1}] ok`))
  })

  it('runs several calls of one turn in order', async () => {
    const { outcome } = await play([read(decoy), read(skill), follow(skill).join('\n')])
    expect(outcome.reward).toBe(1)
  })

  it('answers a call that there is not and goes on', async () => {
    const { outcome, messages } = await play([callText('exec', { command: 'ls' }), ...follow(skill)])
    expect(messages[3]).toEqual({ role: 'tool', content: 'unknown call' })
    expect(outcome.reward).toBe(1)
  })

  it('ends with a plain turn, at a cut-off one, or after its most turns', async () => {
    expect((await play(['Done.'])).generated).toBe(1)
    expect((await play(['<tool_call>\n{"name": "run", \n</tool_call>'])).generated).toBe(1)
    const cut = await play([read(skill)], true)
    expect(cut.generated).toBe(1)
    expect(cut.messages.some((message) => message.role === 'tool')).toBe(false)
    const endless = await play(Array.from({ length: 50 }, () => read(skill)))
    expect(endless.generated).toBe(maxTurns())
    expect(endless.outcome.reward).toBe(0)
  })

  it('has turns enough for a wrong read, a right one and any procedure', () => {
    for (const commands of library.procedures.values())
      expect(2 + commands.length + 1).toBeLessThanOrEqual(maxTurns())
  })
})
