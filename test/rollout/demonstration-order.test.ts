import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DemonstrationOrder } from '../../lib/rollout/demonstration-order.js'

const start = { epoch: 0, index: 0 }
const ofTasks = (ids: (number | undefined)[]) =>
  ids.map((id) => ({ taskId: id === undefined ? undefined : `t${id}` }))

describe('DemonstrationOrder', () => {
  it('holds every demonstration once an epoch, those of a task side by side, the epochs in different orders', () => {
    const demonstrations = ofTasks([0, 1, 0, 2, undefined, 1, 0, undefined])
    const order = new DemonstrationOrder(demonstrations, 3, start)
    const epochs = [order.take(8), order.take(8), order.take(8)]
    for (const epoch of epochs) {
      expect([...epoch].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      expect(epoch.join('')).toMatch(/026/)
      expect(epoch.join('')).toMatch(/15/)
    }
    expect(new Set(epochs.map(String)).size).toBeGreaterThan(1)
    expect(order.state).toEqual({ epoch: 3, index: 0 })
    expect(order.drawn).toBe(24)
  })

  it('goes on from any state as if it had not stopped, an epoch that is just done too', () => {
    const numbers = fc.array(fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }), {
      minLength: 1,
      maxLength: 9,
    })
    fc.assert(
      fc.property(numbers, fc.nat(30), fc.nat(20), fc.nat(), (ids, before, after, seed) => {
        const whole = new DemonstrationOrder(ofTasks(ids), seed, start)
        const expected = whole.take(before + after).slice(before)
        const first = new DemonstrationOrder(ofTasks(ids), seed, start)
        first.take(before)
        const resumed = new DemonstrationOrder(ofTasks(ids), seed, JSON.parse(JSON.stringify(first.state)))
        expect(resumed.take(after)).toEqual(expected)
        expect(resumed.state).toEqual(whole.state)
        const atEnd = new DemonstrationOrder(ofTasks(ids), seed, { epoch: 0, index: ids.length })
        expect(atEnd.state).toEqual({ epoch: 1, index: 0 })
      }),
    )
  })
})
