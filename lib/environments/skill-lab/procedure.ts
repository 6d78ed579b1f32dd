import { SkillgateError } from '../../errors.js'
import type { Skill } from '../../skills/skill.js'

/** A numbered step of a SKILL.md: ``2. Sort: `sheet sort` ``. */
const STEP = /^\d+\. [^`\n]*`([^`\n]+)`$/gm

/** The commands of a skill's numbered steps, in order. `ERR_SKILL_LAB` where there is none. */
export function procedureOf(skill: Skill): string[] {
  const commands = Array.from(skill.content.matchAll(STEP), (match) => match[1]!)
  if (commands.length === 0) {
    const message = `${skill.location}: expected numbered steps with a command in backticks, found none`
    throw new SkillgateError('ERR_SKILL_LAB', message)
  }
  return commands
}

/** What a command is called by: its tool and verb, `sheet sort`. */
export function commandName(command: string): string {
  return command.split(' ', 2).join(' ')
}
