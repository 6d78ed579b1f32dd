import { join } from 'node:path'
import { loadSkillLibrary, SkillLibrary } from '../../skills/library.js'
import { skillsFolder } from './assets.js'
import { domains } from './domains/all.js'
import { commandName, procedureOf } from './procedure.js'

/** The environment's skills, and what the verifier and the teacher know of them. */
export interface LabLibrary {
  skills: SkillLibrary
  /** The commands of each skill by its name. */
  procedures: ReadonlyMap<string, readonly string[]>
  /** Names (tool and verb) of all commands there are. */
  commandNames: ReadonlySet<string>
}

/** Reads the SKILL.md files of every domain. The agent sees them side by side, `/skills/<skill>/SKILL.md`. */
export async function loadLabLibrary(): Promise<LabLibrary> {
  const folders = domains.map((domain) => loadSkillLibrary(join(skillsFolder, domain.name)))
  const skills = new SkillLibrary((await Promise.all(folders)).flatMap((library) => library.skills))
  const procedures = new Map(skills.skills.map((skill) => [skill.name, procedureOf(skill)]))
  const commandNames = new Set([...procedures.values()].flat().map(commandName))
  return { skills, procedures, commandNames }
}
