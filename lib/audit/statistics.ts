/** Statistics of lists; null where a list is too short for one. */

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number | null {
  return values.length === 0 ? null : quantile(Float64Array.from(values).sort(), 0.5)
}

/** With n-1. */
export function standardDeviation(values: readonly number[]): number | null {
  const middle = mean(values)
  if (middle === null || values.length < 2) return null
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1))
}

/** The value that a fraction `q` of ascending values lies below, interpolated. */
export function quantile(ascending: Float64Array, q: number): number {
  const place = q * (ascending.length - 1)
  const below = Math.floor(place)
  const low = ascending[below]!
  return low + ((ascending[below + 1] ?? low) - low) * (place - below)
}
