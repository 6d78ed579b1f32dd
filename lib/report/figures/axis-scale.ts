import { scaleLinear, scaleLog } from 'd3-scale'

export interface ValueAxis {
  /** With the unit, e.g. `Success (%)`. */
  label: string
  /** Default: linear. On a logarithmic axis values of 0 or less lie at its lower end. */
  scale?: 'linear' | 'log'
  /** Values the axis reaches at least. */
  include?: readonly number[]
}

export interface AxisScale {
  /** Place of a value. */
  at(value: number): number
  ticks: { value: number; text: string }[]
}

/** No scale reaches further; its ends must have a difference. */
const largest = 1e300

/** A scale that begins and ends at round numbers; `range` is where its ends lie. */
export function axisScale(
  axis: Pick<ValueAxis, 'scale' | 'include'>,
  values: readonly number[],
  range: readonly [number, number],
  ticks = 5,
): AxisScale {
  const known = [...values, ...(axis.include ?? [])].filter((value) => Math.abs(value) <= largest)
  return axis.scale === 'log' ? logScale(known, range) : linearScale(known, range, ticks)
}

function linearScale(values: readonly number[], range: readonly [number, number], count: number): AxisScale {
  const [low, high] = ends(values, [0, 1])
  const size = Math.max(Math.abs(low), Math.abs(high))
  // Values that differ by less than a tick's text can tell are drawn as equal.
  const margin = high - low <= Math.max(size * 1e-6, 1e-100) ? Math.max(1, size / 10) : 0
  const scale = scaleLinear([low - margin, high + margin], range).nice(count)
  const ticks = scale.ticks(count)
  const text = scale.tickFormat(count, tickFormat(size, margin))
  return { at: scale, ticks: ticks.map((value) => ({ value, text: text(value) })) }
}

/** Thousands and more by their letters, what is very large or small by its power of ten; else as many digits as needed. */
function tickFormat(size: number, margin: number): string | undefined {
  if (size >= 1e15 || (size < 1e-4 && margin === 0)) return '~e'
  return size >= 1e5 && margin === 0 ? '~s' : undefined
}

/** Decades a logarithmic axis reaches down from its upper end, at most. */
const longest = 12

function logScale(values: readonly number[], range: readonly [number, number]): AxisScale {
  const positive = values.filter((value) => value > 1e-100)
  const [lowest, high] = ends(positive, [1, 10])
  const low = Math.max(lowest, high / 10 ** longest)
  const scale = scaleLog([low, low === high ? high * 1.01 : high], range)
    .nice()
    .clamp(true)
  const [first, last] = scale.domain() as [number, number]
  const [from, to] = [Math.round(Math.log10(first)), Math.round(Math.log10(last))]
  const stride = Math.ceil((to - from) / 7)
  const leads = to - from <= 2 ? [1, 2, 5] : [1]
  const ticks: AxisScale['ticks'] = []
  for (let power = from; power <= to; power += Math.max(1, stride))
    for (const lead of power === to ? [1] : leads) {
      const value = Number(`${lead}e${power}`)
      ticks.push({ value, text: String(value) })
    }
  return { at: (value) => scale(Math.max(first, value)), ticks }
}

function ends(values: readonly number[], otherwise: [number, number]): [number, number] {
  if (values.length === 0) return otherwise
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
}
