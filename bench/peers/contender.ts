import { setTimeout as sleep } from 'node:timers/promises'
import { SkillgateError } from '../../lib/errors.js'
import { ratios, type Spread, spread } from '../statistics.js'
import type { Timing, Worker } from '../worker.js'

/** What takes part in a race: one timed run a call. */
export interface Contender {
  name: string
  run(): Promise<Timing>
}

/** A contender of bench/peers/*.py, whose results agreed with ours. */
export interface Peer extends Contender {
  /** Largest relative distance of what it computed to what skillgate did. */
  distance: number
  drop(): Promise<void>
}

const agreement = 1e-4 // float32 sums in other orders

/**
 * Prepares a contender and compares its results with ours: `expected` holds numbers it must return, everything else it
 * returns is a distance. One that computes something else is no contender: ERR_BENCH.
 */
export async function preparePeer(
  worker: Worker,
  contender: string,
  fields: Record<string, unknown>,
  expected: Record<string, number> = {},
): Promise<Peer> {
  const name = `${contender} ${++prepared}`
  await worker.ask({ ...fields, do: 'prepare', name, contender })
  const found = (await worker.ask({ do: 'check', name })) as Record<string, number>
  const distances = Object.entries(found).map(([key, value]) => {
    const want = expected[key]
    return [
      key,
      want === undefined ? value : Math.abs(value - want) / Math.max(Math.abs(want), 1e-2),
    ] as const
  })
  const wrong = distances.filter(([, value]) => !(value <= agreement))
  if (wrong.length > 0) {
    const list = wrong.map(([key, value]) => `${key} ${value.toExponential(1)}`).join(', ')
    throw new SkillgateError('ERR_BENCH', `${contender} does not compute what skillgate does: off by ${list}`)
  }
  return {
    name: contender,
    distance: Math.max(...distances.map(([, value]) => value)),
    run: () => worker.run(name),
    drop: async () => void (await worker.ask({ do: 'drop', name })),
  }
}
let prepared = 0

const settle = 25 // ms: threads of the last contender that still look for work go to sleep

const fewest = 5

export interface Pace {
  rounds: number
  /** Milliseconds of Date.now(): from then on, no more rounds than five are run. */
  deadline: number
  show(text: string): void
}

/** Every contender once a round, each round beginning with another one; after one round that is not counted. */
export async function race(
  contenders: readonly Contender[],
  { rounds, deadline, show }: Pace,
): Promise<Race> {
  const times = new Map<string, Timing[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    if (round > fewest && Date.now() > deadline) break
    show(round === 0 ? 'warming up' : `round ${round} of ${rounds}`)
    for (let i = 0; i < contenders.length; i++) {
      const contender = contenders[(i + round) % contenders.length]!
      await sleep(settle)
      const timing = await contender.run()
      if (round > 0) times.get(contender.name)!.push(timing)
    }
  }
  return new Race(times)
}

export class Race {
  constructor(readonly times: ReadonlyMap<string, readonly Timing[]>) {}

  /** That were timed. */
  get rounds(): number {
    return Math.min(...[...this.times.values()].map(({ length }) => length))
  }

  ns(name: string): number[] {
    return this.times.get(name)!.map(({ ns }) => ns)
  }

  cpuNs(name: string): number[] {
    return this.times.get(name)!.map(({ cpuNs }) => cpuNs)
  }

  /** Time of one over time of the other, round by round. */
  ratio(over: string, under: string): Spread {
    return spread(ratios(this.ns(over), this.ns(under)))
  }

  /** The same of processor time, which other work on the machine disturbs less. */
  cpuRatio(over: string, under: string): number {
    return spread(ratios(this.cpuNs(over), this.cpuNs(under))).median
  }
}
