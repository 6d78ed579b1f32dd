import { expect, test } from 'vitest'
import { SkillgateError } from '../../lib/errors.js'
import { playRollout } from '../../lib/rollout/play.js'
import type { SkillRead, Trajectory } from '../../lib/rollout/trajectory.js'
import { fakeEpisode, groupOptions } from './fake-episode.js'

const start = {
  task: { id: 'a', prompt: 'p' },
  slate: { candidates: [], labelled: true },
  seed: 9,
  group: 1,
  index: 2,
}
const play = (
  agent: () => unknown,
  over: object = {},
  run = new AbortController().signal,
): Promise<Trajectory> => playRollout(start, groupOptions(agent, over), run)

test.each([
  [() => 0.5, { reward: 0.5 }],
  [async () => -3, { reward: -3 }],
  [() => ({ reward: 1, details: { a: [1], gone: undefined } }), { reward: 1, details: { a: [1] } }],
])('a good outcome %# is kept', async (agent, wanted) => {
  const trajectory = await play(agent)
  expect(trajectory).toMatchObject({ task: 'a', seed: 9, group: 1, index: 2, ...wanted })
  expect(trajectory.failure).toBeUndefined()
})

const circle: { self?: object } = {}
circle.self = circle
const thrower = (value: unknown) => () => {
  throw value
}
test.each<[string, () => unknown, string, RegExp]>([
  ['null', () => null, 'ERR_REWARD', /finite number as the reward of task 'a', got null/],
  ['nothing', () => undefined, 'ERR_REWARD', /got undefined/],
  ['NaN', () => Number.NaN, 'ERR_REWARD', /got NaN/],
  ['Infinity', () => Number.POSITIVE_INFINITY, 'ERR_REWARD', /got Infinity/],
  ['text', () => '1', 'ERR_REWARD', /got "1" \(string\)/],
  ['a long text', () => 'x'.repeat(9999), 'ERR_REWARD', /got "x{79}\.\.\. \(string\)$/],
  ['true', () => true, 'ERR_REWARD', /boolean/],
  ['a bigint', () => 1n, 'ERR_REWARD', /bigint/],
  ['a list', () => [1], 'ERR_REWARD', /object/],
  ['an object without reward', () => ({ score: 1 }), 'ERR_REWARD', /got undefined/],
  ['a reward of text', () => ({ reward: '1' }), 'ERR_REWARD', /string/],
  ['an object that refuses to be text', () => Object.create(null), 'ERR_REWARD', /undefined/],
  ['details that are a list', () => ({ reward: 1, details: [] }), 'ERR_DETAILS', /JSON object/],
  ['details that refer to themselves', () => ({ reward: 1, details: circle }), 'ERR_DETAILS', /circular/],
  ['an error', thrower(new TypeError('oops')), 'ERR_AGENT', /the agent threw TypeError: oops/],
  ['a thrown text', thrower('oops'), 'ERR_AGENT', /the agent threw oops/],
  ['a rejection with nothing', () => Promise.reject(), 'ERR_AGENT', /the agent threw undefined/],
  ['an error of skillgate', thrower(new SkillgateError('ERR_X', 'why')), 'ERR_X', /^why$/],
])('%s: no reward, and the reason', async (_, agent, code, message) => {
  const { reward, failure } = await play(agent)
  expect(reward).toBeNull()
  expect(failure!.code).toBe(code)
  expect(failure!.message).toMatch(message)
})

test('an agent that never returns is left behind at its deadline', async () => {
  let signal: AbortSignal | undefined
  const agent = (session: { signal: AbortSignal }) => {
    signal = session.signal
    return new Promise(() => {})
  }
  const { reward, failure } = await playRollout(
    start,
    groupOptions(agent, { deadlineMs: 5 }),
    new AbortController().signal,
  )
  expect(reward).toBeNull()
  expect(failure).toEqual({
    code: 'ERR_DEADLINE',
    message: 'expected the rollout to end within 5 ms, it did not',
  })
  expect(signal!.aborted).toBe(true)
})

test('an agent left behind may fail later without harm', async () => {
  const agent = () => new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 20))
  expect((await play(agent, { deadlineMs: 5 })).failure!.code).toBe('ERR_DEADLINE')
  await new Promise((resolve) => setTimeout(resolve, 30))
})

test('a deadline beyond what a timer can hold does not fire at once', async () => {
  const agent = () => new Promise((resolve) => setTimeout(() => resolve(1), 20))
  expect((await play(agent, { deadlineMs: 2 ** 40 })).reward).toBe(1)
  expect((await play(agent, { deadlineMs: Number.POSITIVE_INFINITY })).reward).toBe(1)
})

test('the abort of the run rejects, the deadline of a rollout does not', async () => {
  const run = new AbortController()
  const playing = play(() => new Promise(() => {}), {}, run.signal)
  run.abort(new Error('enough'))
  await expect(playing).rejects.toMatchObject({ code: 'ERR_ABORTED' })
  await expect(play(() => 1, {}, run.signal)).rejects.toMatchObject({ code: 'ERR_ABORTED' })
})

test('reads are found once the episode is over; a finder that fails is a failed rollout', async () => {
  const reads = [{ skill: 's' }] as SkillRead[]
  expect(await play(() => 1, { findReads: () => reads })).toMatchObject({ reward: 1, reads })
  const fails = await play(() => 1, { findReads: thrower(new SkillgateError('ERR_READS', 'bad bytes')) })
  expect(fails).toMatchObject({ reward: null, failure: { code: 'ERR_READS' }, reads: [] })
})

test('every episode is finished exactly once', async () => {
  const finished: unknown[] = []
  const openEpisode: typeof fakeEpisode = (begin) => {
    const episode = fakeEpisode(begin)
    const finish: typeof episode.finish = (result) => {
      finished.push(result)
      return episode.finish(result)
    }
    return { ...episode, finish }
  }
  const findReads = thrower(new Error('no'))
  for (const agent of [() => 1, () => null, thrower(1)]) await play(agent, { openEpisode })
  await play(() => 1, { openEpisode, findReads })
  expect(finished).toHaveLength(4)
})

test('leaves no timer and no listener behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const run = new AbortController()
  const before = timers()
  let listeners = 0
  const { addEventListener, removeEventListener } = run.signal
  run.signal.addEventListener = (...args: unknown[]) => {
    listeners++
    Reflect.apply(addEventListener, run.signal, args)
  }
  run.signal.removeEventListener = (...args: unknown[]) => {
    listeners--
    Reflect.apply(removeEventListener, run.signal, args)
  }
  for (const agent of [() => 1, () => null, thrower(1)]) await play(agent, {}, run.signal)
  expect(timers()).toBeLessThan(before + 3)
  expect(listeners).toBe(0)
})
