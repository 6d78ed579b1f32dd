import { describe, expect, it } from 'vitest'
import { schedule } from '../../lib/compare/schedule.js'

const pause = () => new Promise((resolve) => setTimeout(resolve, 1))

describe('a schedule', () => {
  it('plays every run once, in order, never more than jobs at a time', async () => {
    const begun: number[] = []
    let playing = 0
    let most = 0
    const whole = await schedule([1, 2, 3, 4, 5], {
      jobs: 2,
      stepsOf: () => 1,
      play: async (run) => {
        begun.push(run)
        most = Math.max(most, ++playing)
        await pause()
        playing -= 1
        return true
      },
    })
    expect([whole, begun, most]).toEqual([true, [1, 2, 3, 4, 5], 2])
  })

  it('tells the time left from the steps of this session alone', async () => {
    let clock = 0
    const left: (number | undefined)[] = []
    await schedule(['resumed', 'new'], {
      jobs: 1,
      now: () => clock,
      stepsOf: () => 10,
      onProgress: (_, __, seconds) => left.push(seconds),
      play: async (run, onProgress) => {
        onProgress({ done: run === 'new' ? 0 : 8, total: 10, text: '' })
        clock += 2000
        onProgress({ done: run === 'new' ? 1 : 9, total: 10, text: '' })
        return true
      },
    })
    // 1 step in 2 s, 11 left; then 2 done of this session (the resumed run ended at 10) in 4 s.
    expect(left.slice(0, 2)).toEqual([undefined, 22])
    expect(left.at(-1)).toBeCloseTo((9 * 4) / 3)
  })

  it('begins no run after an error or a stop', async () => {
    const begun: number[] = []
    const failing = schedule([1, 2, 3], {
      jobs: 1,
      stepsOf: () => 1,
      play: async (run) => {
        begun.push(run)
        throw new Error(`run ${run}`)
      },
    })
    await expect(failing).rejects.toThrow('run 1')
    expect(begun).toEqual([1])

    const controller = new AbortController()
    const whole = await schedule([1, 2, 3], {
      jobs: 1,
      signal: controller.signal,
      stepsOf: () => 1,
      play: async () => {
        controller.abort()
        return false
      },
    })
    expect(whole).toBe(false)
  })
})
