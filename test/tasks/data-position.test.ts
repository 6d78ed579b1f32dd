import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DataPosition } from '../../lib/tasks/data-position.js'

const tasks = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `t${i}`, prompt: `p${i}` }))
const draw = (from: DataPosition, n: number) => Array.from({ length: n }, () => from.next().id)

test('an epoch holds every task once, in an order of its own', () => {
  const position = new DataPosition(tasks(50), { seed: 3 })
  const epochs = [draw(position, 50), draw(position, 50)]
  for (const epoch of epochs) expect(new Set(epoch).size).toBe(50)
  expect(epochs[0]).not.toEqual(epochs[1])
  expect(draw(new DataPosition(tasks(50), { seed: 4 }), 50)).not.toEqual(epochs[0])
})

test('resumes from its state at any point as if never stopped, the end of an epoch included', () => {
  const cases = fc.record({ n: fc.integer({ min: 1, max: 9 }), seed: fc.nat(), at: fc.nat({ max: 30 }) })
  fc.assert(
    fc.property(cases, ({ n, seed, at }) => {
      const straight = new DataPosition(tasks(n), { seed })
      draw(straight, at)
      const state = JSON.parse(JSON.stringify(straight.state))
      expect(draw(new DataPosition(tasks(n), { seed, state }), 20)).toEqual(draw(straight, 20))
    }),
  )
})

test('a state at the very end of an epoch is the start of the next', () => {
  const end = new DataPosition(tasks(4), { seed: 1, state: { epoch: 2, index: 4 } })
  expect(end.state).toEqual({ epoch: 3, index: 0 })
})

test('keeps the order given where asked to', () => {
  expect(draw(new DataPosition(tasks(3), { seed: 0, shuffle: false }), 5)).toEqual([
    't0',
    't1',
    't2',
    't0',
    't1',
  ])
})

test.each([
  { epoch: 0, index: 4 },
  { epoch: -1, index: 0 },
  { epoch: 0.5, index: 0 },
  { epoch: 0, index: Number.NaN },
])('refuses the state %o of three tasks', (state) => {
  expect(() => new DataPosition(tasks(3), { seed: 0, state })).toThrow(/data position/)
})

test('every order of few tasks comes up about as often', () => {
  const counts = new Map<string, number>()
  for (let seed = 0; seed < 6000; seed++) {
    const order = draw(new DataPosition(tasks(3), { seed }), 3).join()
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  expect(counts.size).toBe(6)
  for (const n of counts.values()) expect(Math.abs(n - 1000)).toBeLessThan(150)
})
