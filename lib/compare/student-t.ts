/** 97.5% quantiles of Student's t with 1, 2, 3, ... degrees of freedom. */
const quantiles = [
  12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281, 2.201, 2.1788, 2.1604,
  2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.093, 2.086, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555,
  2.0518, 2.0484, 2.0452, 2.0423,
]

/** The factor of the standard error in a 95% interval of a mean with so many degrees of freedom. */
export function studentT95(degrees: number): number {
  const z = 1.959964
  // Cornish-Fisher to the second order; from 31 degrees on right to four digits.
  const first = (z ** 3 + z) / (4 * degrees)
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
  return quantiles[degrees - 1] ?? z + first + second
}

/** A mean over runs. */
export interface SeedMean {
  value: number
  /** Ends of the 95% interval; absent where one run is all there is. */
  low?: number
  high?: number
  runs: number
}

/** Mean and 95% t interval of independent values; undefined where there is none. Neither end leaves `within`. */
export function meanOverSeeds(
  values: readonly number[],
  within: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): SeedMean | undefined {
  const runs = values.length
  if (runs === 0) return undefined
  const value = values.reduce((sum, one) => sum + one, 0) / runs
  if (runs === 1) return { value, runs }
  const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (runs - 1)
  const half = studentT95(runs - 1) * Math.sqrt(variance / runs)
  return { value, low: Math.max(within[0], value - half), high: Math.min(within[1], value + half), runs }
}
