/** What a binary asks of the system, from what `objdump -p` prints of it. */

/** `2.9` before `2.14`. */
function isNewer(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    if ((left[i] ?? 0) !== (right[i] ?? 0)) return (left[i] ?? 0) > (right[i] ?? 0)
  }
  return false
}

/**
 * The shared libraries it is linked with, and the newest version of each family of symbols it refers to: on a system with an older one it
 * does not load.
 * @param {string} text of `objdump -p`
 * @returns {{ libraries: string[], floors: Record<string, string> }}
 */
export function systemNeeds(text) {
  const libraries = [...text.matchAll(/^\s*NEEDED\s+(\S+)/gm)].map(([, name]) => name)
  const floors = {}
  const references = text.slice(text.indexOf('Version References:'))
  for (const [, family, version] of references.matchAll(/\b(GLIBC|GLIBCXX|CXXABI|GCC)_(\d+(?:\.\d+)*)\b/g)) {
    if (!floors[family] || isNewer(version, floors[family])) floors[family] = version
  }
  return { libraries, floors }
}
