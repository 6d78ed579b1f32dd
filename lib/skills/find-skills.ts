import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface FoundFiles {
  /** Paths of the SKILL.md files relative to the folder, with `/` between, sorted. */
  files: string[]
  problems: string[]
}

const ignored = new Set(['node_modules', '.git'])

/** Every SKILL.md of a folder tree. Links are followed, each folder is visited once. */
export async function findSkillFiles(dir: string): Promise<FoundFiles> {
  const found: FoundFiles = { files: [], problems: [] }
  await walk(dir, '', new Set(), found)
  found.files.sort()
  return found
}

async function walk(root: string, relative: string, visited: Set<string>, found: FoundFiles): Promise<void> {
  const folder = join(root, relative)
  let entries: Dirent[]
  try {
    const real = await realpath(folder)
    if (visited.has(real)) return
    visited.add(real)
    entries = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    found.problems.push(`${relative || '.'}: cannot be read: ${(error as Error).message}`)
    return
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = relative === '' ? entry.name : `${relative}/${entry.name}`
    const kind = entry.isSymbolicLink() ? await linkTarget(join(root, path)) : entry
    if (kind === undefined) {
      if (entry.name === 'SKILL.md') found.problems.push(`${path}: the link leads nowhere`)
    } else if (kind.isDirectory()) {
      if (!ignored.has(entry.name)) await walk(root, path, visited, found)
    } else if (entry.name === 'SKILL.md') {
      if (!kind.isFile()) found.problems.push(`${path}: expected a file`)
      else if (relative === '') found.problems.push(`${path}: expected SKILL.md in a folder of its own`)
      else found.files.push(path)
    } else if (entry.name.toLowerCase() === 'skill.md') {
      found.problems.push(`${path}: expected the file name SKILL.md`)
    }
  }
}

async function linkTarget(path: string) {
  try {
    return await stat(path)
  } catch {
    return undefined
  }
}
