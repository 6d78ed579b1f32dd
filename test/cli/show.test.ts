import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { train } from '../../lib/recipes/rl.js'
import type { Agent } from '../../lib/rollout/agent.js'
import { newFolder, unigramModel, unigramOpener } from '../recipes/unigram-policy.js'
import { commandLine } from './command-line.js'

const output = join(newFolder(), 'run')

/** Two turns; the reward follows from the seed, so that groups differ within. */
const agent: Agent = async (session, task) => {
  session.system('be brief')
  session.user(task.prompt)
  await session.generate({ maxTokens: 3 })
  session.user('and now?')
  await session.generate({ maxTokens: 3 })
  return session.seed % 3
}

beforeAll(async () => {
  await train({
    model: unigramModel(),
    output,
    agent,
    tasks: [{ id: 'first task', prompt: 'p'.repeat(2000) }],
    openPolicy: unigramOpener().openPolicy,
    onEvent: () => {},
    steps: 2,
    groupsPerStep: 1,
    groupSize: 6,
    klCoefficient: 0,
    dynamicSampling: false,
  })
})

describe('show', () => {
  it('prints turns with channel, advantage and weight of their tokens', async () => {
    const { code, out } = await commandLine('show', output, '--step', '1', '--index', '2')
    expect(code).toBe(0)
    expect(out).toContain('credit by skillgate, selector coefficient 0.2')
    expect(out).toContain('step 1, group 0, rollout 2: task first task')
    expect(out).toMatch(
      /-- turn 1\n\[execution: advantage -?[\d.]+, weight [\d.e-]+ a token; tokens \d+-\d+\]/,
    )
    expect(out).toMatch(/-- turn 2\n\[execution/)
    expect(out).toContain('no skills were shown')
    expect(out).toContain('be brief')
    expect(out).toContain('characters left out, --full prints them')
    // 6 rollouts of 6 tokens: each token weighs 1/36.
    expect(out).toContain('weight 0.0278 a token')
    expect((await commandLine('show', output, '--full')).out).toContain('p'.repeat(2000))
  })

  it('takes the last step, or a file by itself with a method of choice', async () => {
    expect((await commandLine('show', output)).out).toContain('step 2, group 0, rollout 0')
    const file = join(output, 'trajectories', 'step-000001.jsonl')
    expect((await commandLine('show', file, '--method', 'grpo')).out).toContain('credit by grpo')
  })

  it.each([
    [['--step', '9'], 'expected step 9 among 1, 2, found none'],
    [['--group', '5'], 'expected group 5 among 0, found none'],
    [['--index', '6'], 'expected rollout 6 among 0, 1, 2, 3, 4, 5, found none'],
  ])('names what is not there: %j', async (argv, text) => {
    const { code, err } = await commandLine('show', output, ...argv)
    expect(code).toBe(1)
    expect(err).toContain(text)
  })
})
