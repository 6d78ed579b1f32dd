/** A range of trajectory lengths, in sampled tokens. */
export interface LengthBin {
  /** e.g. `<=3k`, `3-6k`, `>16k`. */
  label: string
  /** Lengths above this. */
  above: number
  /** Up to and including this; null: without end. */
  upTo: number | null
}

export function lengthBins(edges: readonly number[]): LengthBin[] {
  return [...edges, null].map((upTo, i) => {
    const above = edges[i - 1] ?? 0
    return { label: label(i === 0 ? null : above, upTo), above, upTo }
  })
}

/** Whether a length belongs to the bin; of a median between two lengths the whole part counts. */
export function inBin(length: number, { above, upTo }: LengthBin): boolean {
  const whole = Math.floor(length)
  return whole > above && (upTo === null || whole <= upTo)
}

function label(above: number | null, upTo: number | null): string {
  if (above === null) return `<=${short(upTo!)}`
  if (upTo === null) return `>${short(above)}`
  const [low, high] = [short(above), short(upTo)]
  return low.endsWith('k') && high.endsWith('k') ? `${low.slice(0, -1)}-${high}` : `${low}-${high}`
}

/** `800`, `3k`, `1.5k`. */
const short = (tokens: number) =>
  tokens % 100 === 0 && tokens >= 1000 ? `${tokens / 1000}k` : String(tokens)
