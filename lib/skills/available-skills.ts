import type { Slate } from './skill.js'

/** The slate as a block for a system prompt: name, description and location of each skill, in the slate's order. */
export function availableSkills(slate: Slate): string {
  const skills = slate.candidates.map(({ skill }) =>
    [
      '  <skill>',
      `    <name>${escapeXml(skill.name)}</name>`,
      `    <description>${escapeXml(skill.description)}</description>`,
      `    <location>${escapeXml(skill.location)}</location>`,
      '  </skill>',
    ].join('\n'),
  )
  return ['<available_skills>', ...skills, '</available_skills>'].join('\n')
}

/** One line of XML text. */
function escapeXml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  }
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[&<>"']/g, (character) => entities[character]!)
}
