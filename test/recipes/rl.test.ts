import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listCheckpoints } from '../../lib/checkpoint/find.js'
import type { RunEvent } from '../../lib/recipes/events.js'
import { type TrainConfig, train } from '../../lib/recipes/rl.js'
import { readJsonLines } from '../../lib/report/json-lines.js'
import type { Agent } from '../../lib/rollout/agent.js'
import { readTrajectories } from '../../lib/rollout/trajectory-file.js'
import { newFolder, unigramModel, unigramOpener } from './unigram-policy.js'

const tasks = Array.from({ length: 7 }, (_, i) => ({ id: `t${i}`, prompt: `task ${i}` }))

/** Rewards letters e: a unigram model learns to say them. */
const agent: Agent = async (session, task) => {
  session.user(task.prompt)
  const turn = await session.generate({ maxTokens: 6 })
  return [...turn.text].filter((letter) => letter === 'e').length
}

function configOf(more: Partial<TrainConfig> = {}): TrainConfig {
  return {
    model: unigramModel(),
    output: join(newFolder(), 'run'),
    agent,
    tasks,
    heldOut: tasks.slice(0, 3),
    openPolicy: unigramOpener().openPolicy,
    onEvent: () => {},
    steps: 6,
    groupsPerStep: 3,
    groupSize: 4,
    learningRate: 1,
    klCoefficient: 0,
    checkpointEvery: 2,
    seed: 5,
    ...more,
  }
}

const weightsOf = (checkpoint: string | undefined) =>
  readFileSync(join(checkpoint!, 'model', 'weights.json'), 'utf8')
const timeless = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !/seconds|PerSecond/i.test(name)))
const metricsOf = (output: string) => readJsonLines(join(output, 'metrics.jsonl')).map(timeless)

describe('train', () => {
  it('raises the reward, and keeps config, metrics, trajectories and checkpoints', async () => {
    const config = configOf({ steps: 40, checkpointEvery: 10, keepLast: 2, groupSize: 8 })
    const result = await train(config)
    expect(result).toMatchObject({ step: 40, steps: 40, stopped: false })
    const rewards = metricsOf(config.output).map(({ reward }) => reward as number)
    const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length
    expect(mean(rewards.slice(-5))).toBeGreaterThan(mean(rewards.slice(0, 5)) + 0.5)
    expect((await listCheckpoints(config.output)).map(({ step }) => step)).toEqual([30, 40])
    expect(JSON.parse(readFileSync(join(config.output, 'config.json'), 'utf8'))).toMatchObject({
      steps: 40,
      groupSize: 8,
      seed: 5,
    })
    const groups = await readTrajectories(join(config.output, 'trajectories', 'step-000040.jsonl'))
    expect(groups.filter(({ dropped }) => !dropped).length).toBeLessThanOrEqual(3)
    expect(groups[0]!.trajectories).toHaveLength(8)
  })

  it('gives identical weights and metrics with the same seed, whatever the concurrency, and others with another', async () => {
    const [one, two, three] = [configOf(), configOf({ concurrency: 1 }), configOf({ seed: 6 })]
    const results = [await train(one), await train(two), await train(three)]
    const [a, b, c] = results.map(({ checkpoint }) => weightsOf(checkpoint))
    expect(b).toBe(a)
    expect(c).not.toBe(a)
    expect(metricsOf(two.output)).toEqual(metricsOf(one.output))
  })

  it('never says that more is done than there is to do, also where dropped groups are drawn again', async () => {
    // Half of the tasks have equal rewards, so that their groups are dropped.
    const dull: Agent = async (session, task) => {
      const reward = await agent(session, task)
      return Number(task.id.slice(1)) % 2 === 0 ? 0 : reward
    }
    const said: Extract<RunEvent, { type: 'progress' }>[] = []
    const onEvent = (event: RunEvent) => {
      if (event.type === 'progress') said.push(event)
    }
    const config = configOf({ steps: 4, agent: dull, overSampling: 3, heldOut: undefined, onEvent })
    await train(config)
    expect(metricsOf(config.output).some(({ droppedEqual }) => Number(droppedEqual) > 0)).toBe(true)
    expect(said.some(({ done }) => done > config.groupsPerStep! * config.groupSize!)).toBe(true)
    expect(said.filter(({ done, total }) => done > total)).toEqual([])
  })

  it('gives every file of the policies back', async () => {
    const { opened, openPolicy } = unigramOpener()
    await train(configOf({ steps: 1, klCoefficient: 0.1, openPolicy }))
    expect(opened.map(({ disposed }) => disposed)).toEqual([true, true])
  })
})

it('skill-free shows slates in evaluation only', async () => {
  const skills = ['one', 'two'].map((name) => {
    const content = `---\nname: ${name}\ndescription: d\n---\n`
    return { name, description: 'd', location: `/skills/${name}/SKILL.md`, content }
  })
  const shown = { training: new Set<number>(), evaluation: new Set<number>() }
  const config = configOf({
    ...{ method: 'skill-free', skills, steps: 2, evalEvery: 1 },
    tasks: tasks.map((task) => ({ ...task, oracle: ['one'] })),
    heldOut: [{ id: 'held-out', prompt: 'p', oracle: ['two'] }],
    agent: async (session, task) => {
      const played = task.id === 'held-out' ? shown.evaluation : shown.training
      played.add(session.slate.candidates.length)
      return agent(session, task)
    },
  })
  await train(config)
  expect([...shown.training]).toEqual([0])
  expect([...shown.evaluation]).toEqual([2])
  const [evaluation, step] = metricsOf(config.output)
  expect([evaluation!.oracleRead, step!.oracleRead]).toEqual([expect.anything(), undefined])
})

describe('resuming', () => {
  const full = { evalEvery: 2, evalTasks: 3, keepBest: 'reward', keepLast: 10 } as const

  it.each([1, 2, 3, 4, 5])('after a stop in step %i ends as the run that was not stopped', async (stopIn) => {
    const whole = configOf(full)
    const expected = await train(whole)

    const stopped = configOf({ ...full, model: whole.model })
    const controller = new AbortController()
    const onEvent = (event: RunEvent) => {
      if (event.type === 'progress' && event.what.startsWith(`step ${stopIn}:`) && event.done === 5)
        controller.abort()
    }
    const first = await train({ ...stopped, signal: controller.signal, onEvent })
    expect(first).toMatchObject({ stopped: true, step: stopIn - 1 })
    expect(first.checkpoint === undefined).toBe(stopIn === 1)
    const second = await train({ ...stopped, resume: true })
    expect(second).toMatchObject({ step: 6, stopped: false })
    expect(weightsOf(second.checkpoint)).toBe(weightsOf(expected.checkpoint))
    expect(second.counters).toEqual(expected.counters)
    expect(second.best?.step).toBe(expected.best?.step)
    expect(metricsOf(stopped.output)).toEqual(metricsOf(whole.output))
    const files = readdirSync(join(whole.output, 'trajectories'))
    expect(readdirSync(join(stopped.output, 'trajectories'))).toEqual(files)
    for (const name of files) {
      const text = (output: string) => readFileSync(join(output, 'trajectories', name), 'utf8')
      expect(text(stopped.output)).toBe(text(whole.output))
    }
  })

  it('from an older checkpoint takes away what lies beyond it', async () => {
    const config = configOf({ keepLast: 10 })
    const expected = weightsOf((await train(config)).checkpoint)
    for (const step of [4, 6])
      rmSync(join(config.output, 'checkpoints', `step-00000${step}`), { recursive: true })
    writeFileSync(
      join(config.output, 'metrics.jsonl'),
      `${readFileSync(join(config.output, 'metrics.jsonl'), 'utf8')}{"type":"st`,
    )
    expect(weightsOf((await train({ ...config, resume: true })).checkpoint)).toBe(expected)
    expect(metricsOf(config.output).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('without a checkpoint starts from the beginning and says so', async () => {
    const events: RunEvent[] = []
    const result = await train(
      configOf({ resume: true, steps: 1, onEvent: (event: RunEvent) => void events.push(event) }),
    )
    expect(result.step).toBe(1)
    expect(events).toContainEqual({ type: 'notice', text: expect.stringContaining('no complete checkpoint') })
  })

  it('of a finished run does nothing; with more steps it goes on', async () => {
    const config = configOf({ steps: 2 })
    const first = await train(config)
    expect(await train({ ...config, resume: true })).toMatchObject({ step: 2, checkpoint: first.checkpoint })
    const more = await train({ ...config, resume: true, steps: 4 })
    expect(weightsOf(more.checkpoint)).toBe(
      weightsOf((await train(configOf({ steps: 4, model: config.model }))).checkpoint),
    )
  })

  it('refuses another config, other tasks, another model, each named; a run that is there already is not overwritten', async () => {
    const config = configOf({ steps: 2 })
    await train(config)
    await expect(train(config)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    const other = unigramModel()
    writeFileSync(join(other, 'weights.json'), '[1]')
    const changed = {
      ...config,
      resume: true,
      groupSize: 5,
      method: 'grpo' as const,
      tasks: tasks.slice(1),
      model: other,
    }
    const error = await train(changed).catch((reason) => reason)
    expect(error.code).toBe('ERR_CHECKPOINT_MISMATCH')
    for (const text of [
      'groupSize: 4 in the checkpoint, 5 now',
      'method: skillgate in the checkpoint, grpo now',
      'model: other initial weights',
      'tasks: other content',
    ]) {
      expect(error.message).toContain(text)
    }
    await expect(
      train({ ...config, resume: true, concurrency: 1, output: config.output }),
    ).resolves.toBeDefined()
  })
})

describe('what goes wrong in a run', () => {
  it('a norm that is not finite skips the step, is counted and survives a resume', async () => {
    const warnings: string[] = []
    const { openPolicy } = unigramOpener((policy) => policy.brokenAt.add(2))
    const onEvent = (event: RunEvent) => {
      if (event.type === 'warning') warnings.push(event.text)
    }
    const config = configOf({ openPolicy, onEvent })
    const result = await train(config)
    expect(result.counters.skippedSteps).toBe(1)
    expect(warnings.join()).toContain('step 3: the gradient norm is NaN')
    expect(metricsOf(config.output).map(({ policyVersion }) => policyVersion)).toEqual([1, 2, 2, 3, 4, 5])
  })

  it('weights that are not finite are never saved over good ones', async () => {
    const { opened, openPolicy } = unigramOpener()
    const onEvent = (event: RunEvent) => {
      if (event.type === 'step' && event.figures.step === 3) opened[0]!.setLogit(1000, Number.NaN)
    }
    const config = configOf({ openPolicy, onEvent })
    await expect(train(config)).rejects.toThrow()
    expect((await listCheckpoints(config.output)).map(({ step }) => step)).toEqual([2])
  })

  it('rewards that are all equal leave the weights alone and end the step', async () => {
    const config = configOf({
      agent: async (session, task) => {
        session.user(task.prompt)
        await session.generate({ maxTokens: 2 })
        return 1
      },
      steps: 2,
    })
    const result = await train(config)
    expect(result).toMatchObject({ step: 2, counters: { skippedSteps: 2, droppedGroups: 12 } })
    expect(JSON.parse(weightsOf(result.checkpoint)).every((logit: number) => logit === 0)).toBe(true)
  })

  it('an agent that always throws ends the run with the reason; the last good step is saved', async () => {
    let broken = false
    const failing: Agent = async (session, task) => {
      if (broken) throw new Error('the tool server is gone')
      return agent(session, task)
    }
    const onEvent = (event: RunEvent) => {
      if (event.type === 'step' && event.figures.step === 3) broken = true
    }
    const config = configOf({ agent: failing, onEvent })
    await expect(train(config)).rejects.toMatchObject({
      code: 'ERR_ALL_ROLLOUTS_FAILED',
      message: expect.stringContaining('the tool server is gone'),
    })
    expect((await listCheckpoints(config.output)).at(-1)!.step).toBe(3)
  })

  it('what fails before the first step leaves the folder free for another try', async () => {
    const config = configOf({ steps: 1 })
    await expect(train({ ...config, agent: '/nowhere/agent.mjs' })).rejects.toMatchObject({
      code: 'ERR_AGENT_MODULE',
    })
    await expect(
      train({ ...config, openPolicy: () => Promise.reject(new Error('no memory')) }),
    ).rejects.toThrow('no memory')
    expect(await train(config)).toMatchObject({ step: 1 })
  })

  it.each([
    ['a model that is not there', { model: '/nowhere' }, 'ERR_MODEL_CONFIG'],
    ['an output that is a file', { output: '/proc/version' }, 'ERR_OUTPUT'],
    ['tasks that are not there', { tasks: '/nowhere.jsonl' }, 'ERR_TASKS'],
    ['tasks without a prompt', { tasks: [{ id: 'a' }] as never }, 'ERR_TASKS'],
    ['skills that are not there', { skills: '/nowhere' }, 'ERR_SKILLS'],
  ])('%s is named with a code', async (_, wrong, code) => {
    await expect(train(configOf(wrong))).rejects.toMatchObject({ name: 'SkillgateError', code })
  })

  it('skills that tasks name and the library has not are all named before anything is played', async () => {
    const content = '---\nname: there\ndescription: d\n---\n'
    const skills = [{ name: 'there', description: 'd', location: '/skills/there/SKILL.md', content }]
    const named = [
      { id: 'a', prompt: 'p', oracle: ['there'] },
      { id: 'b', prompt: 'p', oracle: ['gone'], misleading: ['lost'] },
    ]
    await expect(train(configOf({ skills, tasks: named }))).rejects.toMatchObject({
      code: 'ERR_SLATE',
      message: expect.stringMatching(
        /task "b": there is no skill "gone"\n.*task "b": there is no skill "lost"/,
      ),
    })
  })

  it('a second run in the same folder at the same time is refused', async () => {
    const config = configOf({ steps: 1 })
    const outcomes = await Promise.allSettled([train(config), train(config)]) // which of them comes first is open
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    expect(refused?.reason).toMatchObject({ code: expect.stringMatching(/ERR_OUTPUT_(BUSY|EXISTS)/) })
  })

  it('refuses a wrong config before anything is written', async () => {
    const config = configOf({ temperature: 0 })
    await expect(train(config)).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    expect(existsSync(config.output)).toBe(false)
  })
})
