/** Levenshtein distance with swaps of neighbours counted as one (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  const width = b.length + 1
  const cost = Array.from({ length: (a.length + 1) * width }, () => 0)
  for (let i = 0; i <= a.length; i++) cost[i * width] = i
  for (let j = 0; j <= b.length; j++) cost[j] = j
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = cost[(i - 1) * width + j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(change, cost[(i - 1) * width + j]! + 1, cost[i * width + j - 1]! + 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) least = Math.min(least, cost[(i - 2) * width + j - 2]! + 1)
      cost[i * width + j] = least
    }
  }
  return cost.at(-1)!
}

/** The known name that was probably meant, or nothing where none is near. Case, dashes and underscores do not count. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const plain = (name: string) => name.replace(/[-_]/g, '').toLowerCase()
  const wanted = plain(given.slice(0, 80))
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    const candidate = plain(name)
    const isPart = wanted.length >= 3 && (candidate.startsWith(wanted) || candidate.endsWith(wanted))
    const distance = isPart ? 0.5 : editDistance(wanted, candidate)
    const near = distance <= Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3))
    if (near && (!best || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** `; did you mean "x"?`, or nothing. */
export function suggestion(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known)
  return name === undefined ? '' : `; did you mean "${name}"?`
}
