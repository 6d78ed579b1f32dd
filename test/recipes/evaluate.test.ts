import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type EvaluateConfig, evaluate } from '../../lib/recipes/evaluate.js'
import type { RunEvent } from '../../lib/recipes/events.js'
import type { Agent } from '../../lib/rollout/agent.js'
import { readTrajectories } from '../../lib/rollout/trajectory-file.js'
import type { Skill } from '../../lib/skills/skill.js'
import { newFolder, unigramModel, unigramOpener } from './unigram-policy.js'

const skills: Skill[] = Array.from({ length: 20 }, (_, i) => ({
  name: `skill-${i}`,
  description: `does thing ${i}`,
  location: `/skills/skill-${i}/SKILL.md`,
  content: `---\nname: skill-${i}\ndescription: does thing ${i}\n---\nbody`,
}))
const tasks = Array.from({ length: 6 }, (_, i) => ({
  id: `t${i}`,
  prompt: `thing ${i}`,
  oracle: [`skill-${i}`],
}))

const agent: Agent = async (session, task) => {
  session.system(session.availableSkills())
  session.user(task.prompt)
  const turn = await session.generate({ maxTokens: 4 })
  if (task.id === 't5') throw new Error('broken tool')
  return turn.tokens / 4
}

const configOf = (more: Partial<EvaluateConfig> = {}): EvaluateConfig => ({
  model: unigramModel(),
  agent,
  tasks,
  skills,
  openPolicy: unigramOpener().openPolicy,
  onEvent: () => {},
  trials: 2,
  ...more,
})

describe('evaluate', () => {
  it('measures each task the asked number of times, failures counted and named', async () => {
    const output = join(newFolder(), 'evaluation')
    const events: RunEvent[] = []
    const measurement = await evaluate(configOf({ output, onEvent: (event) => void events.push(event) }))
    expect(measurement).toMatchObject({ tasks: 6, trials: 12, failed: { ERR_AGENT: 2 } })
    expect(measurement.estimates.success!.value).toBeCloseTo(10 / 12, 12)
    expect(measurement.estimates.reads!.value).toBe(0)
    expect(events.filter(({ type }) => type === 'progress')).toHaveLength(12)
    expect(events).toContainEqual({
      type: 'warning',
      text: expect.stringContaining('2 of 12 trials failed: 2 x ERR_AGENT'),
    })
    const stored = JSON.parse(readFileSync(join(output, 'evaluation.json'), 'utf8'))
    expect(stored.measurement).toEqual(measurement)
    const groups = await readTrajectories(join(output, 'trajectories.jsonl'))
    expect(groups.map(({ task }) => task)).toEqual(tasks.map(({ id }) => id))
    expect(groups[0]!.trajectories[0]!.slate).toHaveLength(16)
  })

  it('plays the same again with the same seed, and uses temperature and top-p', async () => {
    const model = unigramModel()
    const one = await evaluate(configOf({ model, seed: 3 }))
    expect(await evaluate(configOf({ model, seed: 3, concurrency: 1 }))).toEqual(one)
    const asked: unknown[] = []
    const { openPolicy } = unigramOpener((policy) => {
      const generate = policy.generate.bind(policy)
      policy.generate = (request) => {
        asked.push([request.temperature, request.topP])
        return generate(request)
      }
    })
    await evaluate(configOf({ openPolicy, temperature: 0.5, topP: 0.9, maxTasks: 1, trials: 1 }))
    expect(asked).toEqual([[0.5, 0.9]])
  })

  it('names a module that holds no agent', async () => {
    await expect(evaluate(configOf({ agent: '/nowhere/agent.mjs' }))).rejects.toMatchObject({
      code: 'ERR_AGENT_MODULE',
    })
    const module = new URL('../../package.json', import.meta.url).pathname
    await expect(evaluate(configOf({ agent: module }))).rejects.toMatchObject({ code: 'ERR_AGENT_MODULE' })
  })
})
