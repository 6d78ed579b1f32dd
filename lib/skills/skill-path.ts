/** A path cut into its folders, each with its place in the text it came from. */
export interface PathSegment {
  name: string
  start: number
  end: number
}

/**
 * The segments of a path, with `.`, `..`, doubled slashes and the home folder (`~`, `$HOME`, `/root`, `/home/<user>`) taken out, so
 * that `~/skills/a/./SKILL.md`, `skills/a/SKILL.md` and `/root/skills//a/SKILL.md` are the same path.
 */
export function pathSegments(path: string): PathSegment[] {
  const segments: PathSegment[] = []
  for (const match of path.matchAll(/[^/]+/g)) {
    const name = match[0]
    if (name === '.') continue
    if (name === '..') segments.pop()
    else segments.push({ name, start: match.index, end: match.index + name.length })
  }
  const first = segments[0]?.name ?? ''
  const absolute = path.startsWith('/')
  if (first === 'home' && absolute && segments.length > 2) return segments.slice(2)
  return /^(?:~|\$HOME|\$\{HOME\})$/.test(first) || (first === 'root' && absolute)
    ? segments.slice(1)
    : segments
}

/** The file every skill is read by, or the README beside it. */
export function isSkillFile(name: string | undefined): boolean {
  return name !== undefined && /^(?:SKILL|README)\.md$/i.test(name)
}

/** The folder of a skill's SKILL.md or README.md, in a form that equal folders share; undefined for any other path. */
export function skillFolder(path: string): string | undefined {
  const segments = pathSegments(path.trim())
  if (segments.length < 2 || !isSkillFile(segments.at(-1)?.name)) return undefined
  return folderKey(segments)
}

/** The folder of a path's file: its segments but the last. */
export function folderKey(segments: readonly PathSegment[]): string {
  return segments
    .slice(0, -1)
    .map((segment) => segment.name)
    .join('/')
}
