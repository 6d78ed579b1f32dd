import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { SkillgateError } from '../errors.js'
import { findSkillFiles } from './find-skills.js'
import { readFrontMatter } from './front-matter.js'
import type { Skill } from './skill.js'
import { skillFolder } from './skill-path.js'

export interface LibraryOptions {
  /** The folder the agent is told the library lies in. Default `/skills`. */
  prefix?: string
}

const maxBytes = 1024 * 1024

/** The skills an agent may read, by name and by path. */
export class SkillLibrary {
  readonly skills: readonly Skill[]
  readonly #byName: ReadonlyMap<string, Skill>
  readonly #byFolder: ReadonlyMap<string, Skill>
  #index: MiniSearch | undefined

  /** `ERR_SKILLS` where two skills share a name or a location, or a location is no SKILL.md. */
  constructor(skills: readonly Skill[]) {
    const byName = new Map<string, Skill>()
    const byFolder = new Map<string, Skill>()
    const problems: string[] = []
    for (const skill of skills) {
      const folder = skillFolder(skill.location)
      const other = byName.get(skill.name) ?? (folder === undefined ? undefined : byFolder.get(folder))
      if (folder === undefined) {
        problems.push(
          `${skill.location}: expected the location of "${skill.name}" to end in <folder>/SKILL.md`,
        )
      } else if (other !== undefined) {
        const what = other.name === skill.name ? `the name "${skill.name}"` : 'the folder'
        problems.push(`${skill.location}: ${what} is taken by ${other.location}`)
      } else {
        byName.set(skill.name, skill)
        byFolder.set(folder, skill)
      }
    }
    if (problems.length > 0) throw skillsError('the skills given', problems)
    this.skills = [...skills]
    this.#byName = byName
    this.#byFolder = byFolder
  }

  byName(name: string): Skill | undefined {
    return this.#byName.get(name)
  }

  /** The skill whose SKILL.md or README.md a path names; `./`, `//`, `..` and the home folder do not count. */
  byPath(path: string): Skill | undefined {
    const folder = skillFolder(path)
    return folder === undefined ? undefined : this.#byFolder.get(folder)
  }

  /** Every skill with its BM25 score for a text (0: no word in common), best first, equal ones by name. */
  rank(text: string): { skill: Skill; score: number }[] {
    this.#index ??= this.#buildIndex()
    const scores = new Map(this.#index.search(text).map((hit) => [hit.id as number, hit.score]))
    return this.skills
      .map((skill, i) => ({ skill, score: scores.get(i) ?? 0 }))
      .sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
  }

  #buildIndex(): MiniSearch {
    const index = new MiniSearch({ fields: ['name', 'description'] })
    index.addAll(this.skills.map(({ name, description }, id) => ({ id, name, description })))
    return index
  }
}

/**
 * Reads a folder tree of SKILL.md files. The agent sees `<prefix>/<folder>/SKILL.md`. `ERR_SKILLS` names every file that is
 * wrong: no or bad front matter, a name used twice, empty, binary, larger than 1 MiB, unreadable.
 */
export async function loadSkillLibrary(dir: string, options: LibraryOptions = {}): Promise<SkillLibrary> {
  const prefix = (options.prefix ?? '/skills').replace(/\/+$/, '')
  const { files, problems } = await findSkillFiles(dir)
  const skills: Skill[] = []
  const fileOf = new Map<string, string>()
  for (const file of files) {
    try {
      const content = await readSkillText(join(dir, file))
      const { name, description } = readFrontMatter(content)
      const other = fileOf.get(name)
      if (other !== undefined) throw new Error(`the name "${name}" is taken by ${other}`)
      fileOf.set(name, file)
      skills.push({ name, description, location: `${prefix}/${file}`, content })
    } catch (error) {
      problems.push(`${file}: ${(error as Error).message}`)
    }
  }
  if (problems.length === 0 && skills.length === 0)
    problems.push('expected at least one SKILL.md, found none')
  if (problems.length > 0) throw skillsError(dir, problems)
  return new SkillLibrary(skills)
}

async function readSkillText(file: string): Promise<string> {
  const { size } = await stat(file)
  if (size > maxBytes) throw new Error(`expected at most 1 MiB, got ${size} bytes`)
  const bytes = await readFile(file)
  if (bytes.length === 0) throw new Error('the file is empty')
  if (bytes.includes(0)) throw new Error('expected text, got a binary file')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('expected text in UTF-8, got a binary file')
  }
}

function skillsError(where: string, problems: readonly string[]): SkillgateError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  const lines = problems.map((problem) => `  ${problem}`).join('\n')
  return new SkillgateError('ERR_SKILLS', `${count} with the skills of ${where}:\n${lines}`)
}
