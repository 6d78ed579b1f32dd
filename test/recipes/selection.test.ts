import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findSkillReads } from '../../lib/credit/reads.js'
import { skillLab } from '../../lib/environments/skill-lab/index.js'
import { Tokenizer } from '../../lib/policy/tokenizer.js'
import { makeChoices, pairsOf } from '../../lib/recipes/choices.js'
import type { RunEvent } from '../../lib/recipes/events.js'
import type { RunResult } from '../../lib/recipes/run-folder.js'
import { type SelectionBcConfig, selectionBc } from '../../lib/recipes/selection-bc.js'
import { type SelectionDpoConfig, selectionDpo } from '../../lib/recipes/selection-dpo.js'
import { openStage } from '../../lib/recipes/stage.js'
import { readJsonLines } from '../../lib/report/json-lines.js'
import type { Agent } from '../../lib/rollout/agent.js'
import { openSkills } from '../../lib/rollout/setting.js'
import { parseToolCalls } from '../../lib/rollout/tool-calls.js'
import { newFolder, unigramModel, unigramOpener, VOCABULARY } from './unigram-policy.js'

const lab = await skillLab()
const tasks = lab.trainTasks.slice(0, 12)

function configOf(more: Partial<SelectionDpoConfig> = {}): SelectionDpoConfig {
  return {
    ...{
      model: unigramModel(),
      output: join(newFolder(), 'run'),
      agent: lab.agent,
      skills: lab.skills,
      tasks,
    },
    ...{ openPolicy: unigramOpener().openPolicy, onEvent: () => {}, steps: 5, groupsPerStep: 3 },
    ...{ learningRate: 0.3, checkpointEvery: 2, keepLast: 10, seed: 4, maxTokensPerTurn: 8 },
    ...more,
  }
}

const recipes: [string, (config: SelectionDpoConfig) => Promise<RunResult>][] = [
  ['selection-bc', selectionBc as (config: SelectionBcConfig) => Promise<RunResult>],
  ['selection-dpo', selectionDpo],
]
const weightsOf = (checkpoint: string | undefined) =>
  readFileSync(join(checkpoint!, 'model', 'weights.json'), 'utf8')
const metricsOf = (output: string) =>
  readJsonLines(join(output, 'metrics.jsonl')).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !/seconds|PerSecond/i.test(name))),
  )

describe('choices', async () => {
  const model = unigramModel()
  const skills = await openSkills(lab.skills, { slateRelevant: 5, slateIrrelevant: 5, slateMisleading: 5 })
  const limits = { maxTurns: 8, maxTokensPerTurn: 64, maxTokens: 1024, maxCallsPerTurn: 5 }
  const tools = { readTools: ['read'], execTools: ['exec'] }
  const stage = await openStage(
    {
      ...limits,
      ...tools,
      model,
      agent: lab.agent,
      rolloutDeadline: 5,
      concurrency: 2,
      history: 'append',
      thinking: false,
    } as never,
    skills,
    () => {},
    new Date(0),
  )
  const options = {
    ...tools,
    seed: 1,
    step: 1,
    maxTokens: 1024,
    concurrency: 2,
    against: 'misleading',
  } as const
  const tokenizer = await Tokenizer.load(model)

  /** The skill that a sequence's turn reads. */
  const readIn = ({ tokens, generated }: { tokens: Int32Array; generated: Uint8Array }) => {
    const turn = tokens.slice(generated.indexOf(1))
    const tokenBytes = [...turn].map((id) => tokenizer.bytesOf(id))
    const { calls } = parseToolCalls(Buffer.concat(tokenBytes), {})
    const reads = findSkillReads(
      { tokens: turn, tokenBytes },
      { calls: calls.map(({ name, bytes }) => ({ tool: name, bytes })), slate: [] },
    )
    expect(reads).toHaveLength(1)
    return reads[0]!.skill
  }

  it('are reads of the oracle and of each misleading skill of the slate, after one prompt', async () => {
    const { choices, left } = await makeChoices(tasks.slice(0, 3), stage.ask(4096), options)
    expect(left).toEqual([])
    for (const [i, { task, chosen, rejected }] of choices.entries()) {
      expect(task).toBe(tasks[i]!.id)
      expect(chosen.map(readIn)).toEqual([tasks[i]!.data.skill])
      expect(rejected.map(readIn).sort()).toEqual([...tasks[i]!.slate.misleading].sort())
      const prompts = [...chosen, ...rejected].map(({ tokens, generated }) =>
        tokens.slice(0, generated.indexOf(1)),
      )
      for (const prompt of prompts) expect(prompt).toEqual(prompts[0])
      expect(tokenizer.textOf(prompts[0]!)).toContain(tasks[i]!.prompt)
      for (const { tokens, generated } of chosen) {
        expect(tokenizer.textOf(tokens).endsWith('<|im_end|>')).toBe(true)
        expect(generated.lastIndexOf(0)).toBe(generated.indexOf(1) - 1)
      }
    }
    const { sequences, pairs } = pairsOf(choices)
    expect(pairs).toHaveLength(15)
    for (const [i, { chosen, rejected }] of pairs.entries()) {
      const { data, slate } = tasks[Math.floor(i / 5)]!
      expect(readIn(sequences[chosen]!)).toBe(data.skill)
      expect(slate.misleading).toContain(readIn(sequences[rejected]!))
    }
    expect(new Set(pairs.map(({ chosen }) => chosen)).size).toBe(3)
    expect(new Set(pairs.map(({ rejected }) => rejected)).size).toBe(15)
  })

  it('against distractors take every candidate that is not right', async () => {
    const { choices } = await makeChoices(tasks.slice(0, 1), stage.ask(4096), {
      ...options,
      against: 'distractors',
    })
    expect(choices[0]!.rejected).toHaveLength(15)
    expect(choices[0]!.rejected.map(readIn)).not.toContain(tasks[0]!.data.skill)
  })

  it('leave out what is too long or has nothing to reject, and say so; with nothing left they fail', async () => {
    const bare = { ...tasks[1]!, slate: { ...tasks[1]!.slate, misleading: [] } }
    const { choices, left } = await makeChoices([bare, tasks[0]!], stage.ask(4096), options)
    expect(choices.map(({ task }) => task)).toEqual([tasks[0]!.id])
    expect(left.join()).toContain(`task '${bare.id}': no misleading in its slate`)
    const refused = makeChoices(tasks.slice(0, 2), stage.ask(40), options)
    await expect(refused).rejects.toMatchObject({ code: 'ERR_NO_CHOICES' })
  })
})

describe.each(recipes)('%s', (name, recipe) => {
  const evaluated = { evalEvery: 2, heldOut: lab.heldOutTasks, evalTasks: 2, keepBest: 'reward' } as const

  it('brings its loss down, tells of each step, and evaluates as train does', async () => {
    const events: RunEvent[] = []
    const config = configOf({ steps: 12, ...evaluated, onEvent: (event) => void events.push(event) })
    expect(await recipe(config)).toMatchObject({ step: 12, steps: 12, counters: { skippedSteps: 0 } })
    const steps = metricsOf(config.output).filter(({ type }) => type === 'step')
    const first = name === 'selection-bc' ? Math.log(VOCABULARY) : Math.LN2
    expect(steps[0]!.loss).toBeCloseTo(first, 4)
    expect(steps.at(-1)!.loss as number).toBeLessThan(0.97 * first)
    expect(events.filter(({ type }) => type === 'loss')).toHaveLength(12)
    const evaluations = metricsOf(config.output).filter(({ type }) => type === 'evaluation')
    expect(evaluations.map(({ step }) => step)).toEqual([0, 2, 4, 6, 8, 10, 12])
    expect(evaluations[0]).toHaveProperty('oracleRead')
  })

  it.each([1, 3, 5])(
    'stopped in step %i and resumed ends as the run that was not stopped',
    async (stopAfter) => {
      const whole = configOf()
      const expected = await recipe(whole)
      const controller = new AbortController()
      const onEvent = (event: RunEvent) => {
        if (event.type === 'loss' && event.figures.step === stopAfter) controller.abort()
      }
      const stopped = configOf({ model: whole.model })
      await recipe({ ...stopped, signal: controller.signal, onEvent })
      const second = await recipe({ ...stopped, resume: true })
      expect(second).toMatchObject({ step: 5, stopped: false })
      expect(weightsOf(second.checkpoint)).toBe(weightsOf(expected.checkpoint))
      expect(metricsOf(stopped.output)).toEqual(metricsOf(whole.output))
    },
  )

  it('leaves tasks without an oracle out, whatever else is known of them', async () => {
    const notices: string[] = []
    const onEvent = (event: RunEvent) => {
      if (event.type === 'notice') notices.push(event.text)
    }
    const without = tasks.map((task, i) => (i % 2 === 0 ? task : { ...task, oracle: [] }))
    const config = configOf({ tasks: without, steps: 4, onEvent })
    await recipe(config)
    expect(notices.join()).toContain('6 of 12 tasks have no oracle')
    const alone = configOf({ tasks: tasks.filter((_, i) => i % 2 === 0), steps: 4, model: config.model })
    await recipe(alone)
    expect(metricsOf(config.output)).toEqual(metricsOf(alone.output))
    const none = configOf({ tasks: tasks.map((task) => ({ ...task, oracle: [] })) })
    await expect(recipe(none)).rejects.toMatchObject({ code: 'ERR_TASKS' })
  })

  it('names an agent that never asks, one without a tool that reads, and another run', async () => {
    const silent: Agent = async () => 1
    await expect(recipe(configOf({ agent: silent }))).rejects.toMatchObject({
      code: 'ERR_NO_CHOICES',
      message: expect.stringContaining('the agent ended without asking for a turn'),
    })
    const toolless: Agent = async (session, task) => {
      session.user(task.prompt)
      await session.generate()
      return 1
    }
    await expect(recipe(configOf({ agent: toolless }))).rejects.toMatchObject({ code: 'ERR_READ_TURN' })
    const config = configOf({ agent: toolless, readTurn: 'cat {location}', steps: 1 })
    expect(await recipe(config)).toMatchObject({ step: 1 })
    await expect(recipe({ ...config, resume: true, readTurn: 'less {location}' })).rejects.toMatchObject({
      code: 'ERR_CHECKPOINT_MISMATCH',
      message: expect.stringContaining('readTurn: cat {location} in the checkpoint, less {location} now'),
    })
  })
})

it('dpo holds what it prefers to the reference: preferred pairs grow, and beta scales the margin', async () => {
  const config = configOf({ steps: 12, beta: 0.5 })
  await selectionDpo(config)
  const steps = metricsOf(config.output)
  expect(steps[0]).toMatchObject({ pairs: 15, tasks: 3, margin: 0, preferred: 0 })
  expect(steps.at(-1)!.preferred as number).toBeGreaterThan(0.5)
  expect(steps.at(-1)!.margin as number).toBeGreaterThan(0)
})
