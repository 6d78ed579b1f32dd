/** The name with the fewest changed characters, where that is at most a third of it. */
export function nearestSkillName(given: string, names: Iterable<string>): string | undefined {
  const wanted = given.slice(0, 100).toLowerCase()
  let best: { name: string; distance: number } | undefined
  for (const name of names) {
    const distance = changes(wanted, name.slice(0, 100).toLowerCase())
    if (distance <= Math.max(1, name.length / 3) && (best === undefined || distance < best.distance)) {
      best = { name, distance }
    }
  }
  return best?.name
}

/** Levenshtein distance, one row at a time. */
function changes(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = row[j]! + (a[i] === b[j] ? 0 : 1)
      next.push(Math.min(replaced, row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
