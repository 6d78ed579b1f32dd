import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentSession } from '../../lib/rollout/agent.js'
import { type CollectOptions, collect, playTasks } from '../../lib/rollout/collect.js'
import type { Group, Trajectory } from '../../lib/rollout/trajectory.js'
import { DataPosition } from '../../lib/tasks/data-position.js'
import type { Task } from '../../lib/tasks/task.js'
import { groupOptions, pause, tasks } from './fake-episode.js'

type Rewards = Record<string, unknown[]>

/** Options of a step over tasks t0, t1, ... in order; `rewards` has what the rollouts of a task return, by place. */
function stepOptions(rewards: Rewards, over: Partial<CollectOptions> = {}): CollectOptions {
  const count = new Map<string, number>()
  const agent = async (_: AgentSession, task: Task) => {
    const place = count.get(task.id) ?? 0
    count.set(task.id, place + 1)
    const value = (rewards[task.id] ?? [0, 1, 0, 1])[place]
    if (value instanceof Error) throw value
    return value === 'hang' ? new Promise(() => {}) : value
  }
  const position = new DataPosition(tasks(100), { seed: 0, shuffle: false })
  return { ...groupOptions(agent), nextTask: () => position.next(), groupsPerStep: 3, ...over }
}
const ids = (groups: Group[]) => groups.map((group) => group.task)
const rewardsOf = (group: Group) => group.trajectories.map((t) => t.reward)

test('a group each of the tasks drawn', async () => {
  const result = await collect(stepOptions({}))
  expect(ids(result.kept)).toEqual(['t0', 't1', 't2'])
  expect(result).toMatchObject({ draws: 3, dropped: [], warnings: [] })
  for (const [draw, group] of result.kept.entries()) {
    expect(group.index).toBe(draw)
    expect(group.trajectories.map((t) => [t.group, t.index])).toEqual([0, 1, 2, 3].map((i) => [draw, i]))
  }
  const seeds = result.kept.flatMap((group) => group.trajectories.map((t) => t.seed))
  expect(new Set(seeds).size).toBe(12)
})

test('a group of equal rewards is replaced by another draw', async () => {
  const equal = [0.4, 0.4, 0.4, 0.4]
  const result = await collect(stepOptions({ t0: equal, t2: [0, 0, 0, 0], t3: equal }))
  expect(ids(result.kept)).toEqual(['t1', 't4', 't5'])
  expect(result.dropped.map(({ group, reason }) => [group.task, reason])).toEqual(
    ['t0', 't2', 't3'].map((task) => [task, 'equal-rewards']),
  )
  expect(result).toMatchObject({ draws: 6, warnings: [] })
})

test('without dynamic sampling it stays', async () => {
  const result = await collect(stepOptions({ t0: [1, 1, 1, 1] }, { dynamicSampling: false }))
  expect(ids(result.kept)).toEqual(['t0', 't1', 't2'])
})

test('nor is one dropped that is to be kept anyway, unless too few rollouts are left of it', async () => {
  const rewards = { t0: [1, 1, 1, 1], t1: [0, 0, 0, 0], t2: Array(4).fill(new Error('x')) }
  const asked: string[] = []
  const keepAnyway = (group: Group) => {
    asked.push(group.task)
    return group.task !== 't0'
  }
  const result = await collect(stepOptions(rewards, { keepAnyway }))
  expect(ids(result.kept)).toEqual(['t1', 't3', 't4'])
  expect(result.dropped.map(({ group, reason }) => [group.task, reason])).toEqual([
    ['t0', 'equal-rewards'],
    ['t2', 'too-few-rewards'],
  ])
  expect(asked.sort()).toEqual(['t0', 't1'])
})

test('the draws are bounded; then it says what there is to train on', async () => {
  const equal = [1, 1, 1, 1]
  const rewards = Object.fromEntries([0, 1, 2, 3, 5].map((i) => [`t${i}`, equal]))
  const result = await collect(stepOptions(rewards))
  expect(ids(result.kept)).toEqual(['t4'])
  expect(result.draws).toBe(6)
  expect(result.warnings).toEqual([
    '1 of 3 groups to train on after 6 draws: 5 with equal rewards, 0 with too few rewards',
  ])
  const none = await collect(stepOptions({ ...rewards, t4: equal }, { overSampling: 1.7 }))
  expect([none.kept, none.draws]).toEqual([[], 5])
})

test.each([
  ['throws', new Error('x'), 'ERR_AGENT'],
  ['hangs', 'hang', 'ERR_DEADLINE'],
  ['returns nothing', undefined, 'ERR_REWARD'],
  ['returns NaN', Number.NaN, 'ERR_REWARD'],
  ['returns text', '1', 'ERR_REWARD'],
])('a rollout that %s leaves its group, with the reason', async (_, value, code) => {
  const { kept } = await collect(stepOptions({ t1: [1, value, 0, 1] }, { deadlineMs: 40 }))
  expect(ids(kept)).toEqual(['t0', 't1', 't2'])
  expect(rewardsOf(kept[1]!)).toEqual([1, null, 0, 1])
  expect(kept[1]!.trajectories[1]!.failure!.code).toBe(code)
})

test('equality is judged among the survivors', async () => {
  const { dropped } = await collect(stepOptions({ t1: [1, null, 1, 1] }))
  expect(dropped.map(({ group, reason }) => [group.task, reason])).toEqual([['t1', 'equal-rewards']])
})

test('a group of one survivor is dropped with a warning that says why', async () => {
  const result = await collect(stepOptions({ t0: [1, new Error('a'), new Error('b'), null] }))
  expect(ids(result.kept)).toEqual(['t1', 't2', 't3'])
  expect(result.dropped[0]!.reason).toBe('too-few-rewards')
  expect(result.warnings).toEqual([
    "group of task 't0' dropped: 1 of 4 rollouts came to a reward; 2 x ERR_AGENT (the agent threw Error: a), " +
      "1 x ERR_REWARD (expected a finite number as the reward of task 't0', got null)",
  ])
})

test('no reward at all is an error that says why', async () => {
  const options = stepOptions(
    {},
    groupOptions(() => Promise.reject(new Error('no server'))),
  )
  await expect(collect(options)).rejects.toMatchObject({
    code: 'ERR_ALL_ROLLOUTS_FAILED',
    message: expect.stringMatching(/none from \d+: \d+ x ERR_AGENT \(the agent threw Error: no server\)/),
  })
})

test('at most so many rollouts run at a time', async () => {
  let running = 0
  let most = 0
  const agent = async (session: AgentSession) => {
    most = Math.max(most, ++running)
    await pause(2)
    running--
    return session.seed % 2
  }
  await collect(stepOptions({}, { ...groupOptions(agent), concurrency: 5 }))
  expect(most).toBe(5)
})

test('what is kept follows from the seeds, never from who finishes first', async () => {
  const step = (delay: (session: AgentSession) => number, over: Partial<CollectOptions>) => {
    const agent = async (session: AgentSession) => {
      const wait = delay(session)
      if (wait > 0) await pause(wait)
      // About a quarter of the groups have equal rewards, and a twentieth of the rollouts fails.
      const task = Number(session.task.id.slice(1))
      return session.seed % 20 === 0 ? Number.NaN : task % 4 === 0 ? 1 : session.seed % 3
    }
    return collect(stepOptions({}, { ...groupOptions(agent), groupsPerStep: 4, ...over }))
  }
  const facts = (trajectories: Trajectory[]) =>
    trajectories.map(({ seed, reward, failure }) => [seed, reward, failure?.code])
  const summary = async (result: ReturnType<typeof collect>) => {
    const { kept, dropped, draws, warnings } = await result
    return {
      kept: kept.map((group) => [group.task, group.index, facts(group.trajectories)]),
      dropped: dropped.map(({ group, reason }) => [
        group.task,
        group.index,
        reason,
        facts(group.trajectories),
      ]),
      draws,
      warnings,
    }
  }
  const delays = fc.array(fc.nat({ max: 6 }), { minLength: 7, maxLength: 7 })
  await fc.assert(
    fc.asyncProperty(fc.nat(), delays, fc.integer({ min: 1, max: 20 }), async (seed, waits, concurrency) => {
      const straight = await summary(step(() => 0, { seed, concurrency: 1 }))
      let turn = 0
      const shuffled = await summary(step(() => waits[turn++ % 7]!, { seed, concurrency }))
      expect(shuffled).toEqual(straight)
    }),
    { numRuns: 25 },
  )
})

test('seeds differ by run, step, draw and place, and repeat with them', async () => {
  const seeds = async (over: Partial<CollectOptions>) =>
    (await collect(stepOptions({}, over))).kept.flatMap((group) => group.trajectories.map((t) => t.seed))
  const first = await seeds({})
  expect(await seeds({})).toEqual(first)
  for (const over of [{ seed: 12 }, { step: 4 }]) expect(first).not.toContain((await seeds(over))[0])
})

test('every rollout of a group has the one slate of its draw', async () => {
  const asked: [string, number][] = []
  const slateFor = (task: Task, seed: number) => {
    asked.push([task.id, seed])
    return { candidates: [], labelled: task.id !== 't1' }
  }
  const { kept } = await collect(stepOptions({}, { slateFor }))
  expect(asked.map(([id]) => id)).toEqual(['t0', 't1', 't2'])
  expect(new Set(asked.map(([, seed]) => seed)).size).toBe(3)
  expect(kept.map((group) => group.trajectories.map((t) => t.labelled))).toEqual(
    [true, false, true].map((l) => Array(4).fill(l)),
  )
})

test('every finished rollout is reported', async () => {
  const seen: string[] = []
  await collect(
    stepOptions({ t0: [1, null, 0, 1] }, { onRollout: (t) => seen.push(`${t.task} ${t.index} ${t.reward}`) }),
  )
  expect(seen.toSorted()).toEqual(
    [
      't0 0 1',
      't0 1 null',
      't0 2 0',
      't0 3 1',
      ...['t1', 't2'].flatMap((t) => [0, 1, 0, 1].map((r, i) => `${t} ${i} ${r}`)),
    ].toSorted(),
  )
})

test('an abort stops every rollout, running or waiting', async () => {
  const stop = new AbortController()
  let running = 0
  let begun = 0
  const agent = async (session: AgentSession) => {
    begun++
    running++
    session.signal.addEventListener('abort', () => running--)
    return new Promise(() => {})
  }
  const collecting = collect(stepOptions({}, { ...groupOptions(agent), signal: stop.signal }))
  await pause(5)
  expect([begun, running]).toEqual([8, 8])
  stop.abort(new Error('enough'))
  await expect(collecting).rejects.toMatchObject({ code: 'ERR_ABORTED' })
  expect([begun, running]).toEqual([8, 0])
  await expect(collect(stepOptions({}, { signal: stop.signal }))).rejects.toMatchObject({
    code: 'ERR_ABORTED',
  })
})

test.each<[string, Partial<CollectOptions>]>([
  ['onRollout', { onRollout: () => fail() }],
  ['slateFor', { slateFor: () => fail() }],
  ['nextTask', { nextTask: () => fail() }],
  ['openEpisode', { openEpisode: () => fail() }],
])('an error of %s comes through, the rollouts stopped', async (_, over) => {
  let begun = 0
  let hanging = 0
  const agent = async (session: AgentSession) => {
    if (begun++ === 0) return 1
    hanging++
    session.signal.addEventListener('abort', () => hanging--)
    return new Promise(() => {})
  }
  await expect(collect(stepOptions({}, { ...groupOptions(agent), ...over }))).rejects.toThrow('mine')
  expect(hanging).toBe(0)
})
function fail(): never {
  throw new Error('mine')
}

test('evaluation plays every task and drops nothing', async () => {
  const groups = await playTasks(
    tasks(3),
    groupOptions((_, task) => (task.id === 't1' ? null : 1), { groupSize: 2 }),
  )
  expect(groups.map((group) => [group.task, group.index, rewardsOf(group)])).toEqual([
    ['t0', 0, [1, 1]],
    ['t1', 1, [null, null]],
    ['t2', 2, [1, 1]],
  ])
  expect(
    await playTasks(
      [],
      groupOptions(() => 1),
    ),
  ).toEqual([])
})

test.each<[Partial<CollectOptions>, RegExp]>([
  [{ groupSize: 1 }, /at least 2 for groupSize, got 1/],
  [{ groupSize: 2.5 }, /groupSize, got 2.5/],
  [{ groupsPerStep: 0 }, /groupsPerStep, got 0/],
  [{ concurrency: 0 }, /concurrency, got 0/],
  [{ seed: 0.5 }, /seed, got 0.5/],
  [{ step: -1 }, /step, got -1/],
  [{ deadlineMs: Number.NaN }, /deadlineMs, got NaN/],
  [{ deadlineMs: 0 }, /deadlineMs, got 0/],
  [{ overSampling: 0.5 }, /overSampling, got 0.5/],
  [{ overSampling: Number.NaN }, /overSampling, got NaN/],
])('refuses %o', async (over, message) => {
  await expect(collect(stepOptions({}, over))).rejects.toThrow(message)
})
