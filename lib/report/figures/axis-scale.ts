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

/** A scale that begins and ends at round numbers; `range` is where its ends lie. */
export function axisScale(
  axis: Pick<ValueAxis, 'scale' | 'include'>,
  values: readonly number[],
  range: readonly [number, number],
  ticks = 5,
): AxisScale {
  const known = [...values, ...(axis.include ?? [])].filter(Number.isFinite)
  return axis.scale === 'log' ? logScale(known, range) : linearScale(known, range, ticks)
}

function linearScale(values: readonly number[], range: readonly [number, number], count: number): AxisScale {
  const [low, high] = ends(values, [0, 1])
  const margin = low === high ? Math.max(1, Math.abs(low) / 10) : 0
  const scale = scaleLinear([low - margin, high + margin], range).nice(count)
  const text = scale.tickFormat(count)
  return { at: scale, ticks: scale.ticks(count).map((value) => ({ value, text: text(value) })) }
}

function logScale(values: readonly number[], range: readonly [number, number]): AxisScale {
  const [low, high] = ends(
    values.filter((value) => value > 0),
    [1, 10],
  )
  const scale = scaleLog([low, low === high ? high * 1.01 : high], range)
    .nice()
    .clamp(true)
  const [first, last] = scale.domain() as [number, number]
  const fine = Math.log10(last / first) <= 2.5
  const ticks: AxisScale['ticks'] = []
  for (let power = Math.round(Math.log10(first)); power <= Math.round(Math.log10(last)); power++)
    for (const lead of fine ? [1, 2, 5] : [1]) {
      const value = Number(`${lead}e${power}`)
      if (value >= first * 0.999 && value <= last * 1.001) ticks.push({ value, text: String(value) })
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
