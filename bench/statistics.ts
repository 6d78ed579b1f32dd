/** A middle and how far the middle half of the samples reaches. */
export interface Spread {
  median: number
  low: number
  high: number
}

/** By linear interpolation between the two nearest samples; `share` in 0..1. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = Math.floor(place)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below)
}

export function spread(samples: readonly number[]): Spread {
  return { median: quantile(samples, 0.5), low: quantile(samples, 0.25), high: quantile(samples, 0.75) }
}

/** Round by round: what was measured in the same seconds is compared, nothing else. */
export function ratios(over: readonly number[], under: readonly number[]): number[] {
  return over.map((value, round) => value / under[round]!)
}
