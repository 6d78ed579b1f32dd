import type { TokenRange } from '../rollout/trajectory.js'

/** How many tokens lie in at least one of the ranges; with `mask`, of those whose entry is 1. */
export function coveredTokens(ranges: readonly TokenRange[], mask?: ArrayLike<number>): number {
  let covered = 0
  let from = 0
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const first = Math.max(from, start)
    if (mask === undefined) covered += Math.max(0, end - first)
    else for (let token = first; token < Math.min(end, mask.length); token++) if (mask[token] === 1) covered++
    from = Math.max(from, end)
  }
  return covered
}
