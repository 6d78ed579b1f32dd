import { Environment } from '@huggingface/jinja'
import { strftime } from './strftime.js'

const mostItems = 100_000

/** What every chat template may name, as transformers defines it; `strftime_now` tells `now`. */
export function templateGlobals(now: Date): Environment {
  const globals = new Environment()
  for (const [name, value] of [['true', true] as const, ['false', false] as const, ['none', null] as const]) {
    globals.set(name, value)
    globals.set(name[0]!.toUpperCase() + name.slice(1), value)
  }
  globals.set('raise_exception', (message: string) => {
    throw new Error(message)
  })
  globals.set('strftime_now', (format: string) => strftime(now, format))
  globals.set('range', range)
  return globals
}

function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  const count = Math.max(0, Math.ceil((stop - start) / step))
  if (!(count <= mostItems)) throw new Error(`expected range() of at most ${mostItems} items, got ${count}`)
  return Array.from({ length: count }, (_, i) => start + i * step)
}
