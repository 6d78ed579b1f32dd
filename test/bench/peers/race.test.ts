import { describe, expect, it } from 'vitest'
import { preparePeer, race } from '../../../bench/peers/contender.js'
import { Worker } from '../../../bench/worker.js'

describe('race', () => {
  const pace = { rounds: 2, deadline: Number.POSITIVE_INFINITY, show: () => {} }

  it('runs everyone once a round, beginning with another one, and drops the first round', async () => {
    const order: string[] = []
    const contender = (name: string, factor: number) => ({
      name,
      run: async () => {
        order.push(name)
        const ns = factor * (1 + order.length) // the machine gets slower and slower
        return { ns, cpuNs: 2 * ns }
      },
    })
    const result = await race([contender('a', 1), contender('b', 3), contender('c', 2)], pace)
    expect(order.join('')).toBe('abcbcacab')
    expect(result.rounds).toBe(2)
    expect(result.ns('b')).toEqual([3 * 5, 3 * 10])
    expect(result.ratio('b', 'c').median).toBeGreaterThan(1)
    expect(result.cpuRatio('b', 'c')).toBeCloseTo(result.ratio('b', 'c').median)
  })

  it('stops at five rounds where the time is up', async () => {
    const one = { name: 'a', run: async () => ({ ns: 1, cpuNs: 1 }) }
    expect((await race([one], { ...pace, rounds: 9, deadline: 0 })).rounds).toBe(5)
    expect((await race([one], { ...pace, rounds: 3, deadline: 0 })).rounds).toBe(3)
  })
})

describe('preparePeer', () => {
  const answering = (check: Record<string, number>) =>
    new Worker('peer', process.execPath, [
      '-e',
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) =>
        console.log(JSON.parse(line).do === 'check' ? ${JSON.stringify(JSON.stringify(check))} : '{}'))`,
    ])

  it('takes one that computes the same', async () => {
    const worker = answering({ loss: 2.00002, dHidden: 3e-7 })
    const peer = await preparePeer(worker, 'eager', {}, { loss: 2 })
    expect(peer.distance).toBeCloseTo(1e-5)
    await worker.close()
  })

  it('refuses one that computes something else, and says what', async () => {
    for (const check of [
      { loss: 2, dHidden: 0.5 },
      { loss: 2.1, dHidden: 0 },
    ]) {
      const worker = answering(check)
      const refused = preparePeer(worker, 'eager', {}, { loss: 2 })
      await expect(refused).rejects.toThrow(
        /eager does not compute what skillgate does: off by (loss|dHidden) /,
      )
      await worker.close()
    }
  })
})
