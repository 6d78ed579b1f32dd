import { pathSegments } from '../skills/skill-path.js'

/** A path inside a text that ends in SKILL.md or README.md. */
export interface PathMention {
  path: string
  /** Place of the path in the text. */
  start: number
}

const longestPath = 1024
const endOrFile = /[\s'"`<>|;&(){}[\]$,=*?!:\\]|\/(?:SKILL|README)\.md(?![\w/-]|\.\w)/gi

/** The paths of skill files in a command, in order; each mention counts. Quotes, spaces and shell signs end a path. */
export function pathsInCommand(text: string): PathMention[] {
  const mentions: PathMention[] = []
  let least = 0
  for (const { 0: found, index } of text.matchAll(endOrFile)) {
    if (found.length === 1) {
      least = index + 1
      continue
    }
    const start = Math.max(least, index - longestPath)
    mentions.push({ path: text.slice(start, index + found.length), start })
  }
  return mentions
}

/** The mentions of paths that are known and hold signs `pathsInCommand` stops at, such as spaces. */
export function knownPathsInCommand(text: string, paths: readonly string[]): PathMention[] {
  return paths.flatMap((path) => {
    const mentions: PathMention[] = []
    for (let start = text.indexOf(path); start >= 0; start = text.indexOf(path, start + path.length)) {
      mentions.push({ path, start })
    }
    return mentions
  })
}

/** True where a path can be told from a command only by knowing it. */
export function needsKnowing(path: string): boolean {
  return pathsInCommand(path)[0]?.path !== path
}

/** The folder that names the skill, with its place in the path. */
export function nameInPath(path: string) {
  return pathSegments(path).at(-2)
}
