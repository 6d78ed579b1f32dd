import { describe, expect, it } from 'vitest'
import { misleadingSkills } from '../../../lib/environments/skill-lab/domain.js'
import { domains } from '../../../lib/environments/skill-lab/domains/all.js'
import { loadLabLibrary } from '../../../lib/environments/skill-lab/library.js'
import { procedureOf } from '../../../lib/environments/skill-lab/procedure.js'
import { verify } from '../../../lib/environments/skill-lab/verify.js'

const { skills, procedures } = await loadLabLibrary()
const rightSkills = domains.flatMap((domain) => [...domain.skills, domain.heldOutSkill])

describe('the library', () => {
  it('has in each of 12 domains 4 skills, 1 held out and 5 that mislead', () => {
    expect(domains).toHaveLength(12)
    for (const domain of domains) {
      expect(domain.skills).toHaveLength(4)
      expect(new Set(misleadingSkills(domain)).size).toBe(5)
    }
    const named = domains.flatMap((domain) => [
      ...domain.skills.map((skill) => skill.name),
      domain.heldOutSkill.name,
      ...misleadingSkills(domain),
    ])
    expect(new Set(named).size).toBe(120)
    expect(skills.skills.map((skill) => skill.name).sort()).toEqual([...named].sort())
  })

  it('names skills in kebab case and says in one short line when to use them', () => {
    for (const { name, description, location } of skills.skills) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+){1,2}$/)
      expect(description).toMatch(/^[A-Z][^\n]*\.$/)
      expect(description.split(' ').length, description).toBeLessThanOrEqual(14)
      expect(location).toBe(`/skills/${name}/SKILL.md`)
    }
  })

  it('gives every skill a title, a line of context and numbered steps', () => {
    for (const skill of skills.skills) {
      const body = /^---\n[\s\S]*?\n---\n# \S.*\n\n(\S.*)\n\n((?:\d\. [A-Z][^`\n]*: `[^`\n]+`\n)+)$/.exec(
        skill.content,
      )
      expect(body, skill.location).not.toBeNull()
      expect(body![1]).toMatch(/^The [a-z ]+ is open\./)
      const numbers = Array.from(body![2]!.matchAll(/^\d/gm), ([digit]) => Number(digit))
      expect(numbers).toEqual(numbers.map((_, i) => i + 1))
      const commands = procedures.get(skill.name)!
      expect(commands).toHaveLength(numbers.length)
      for (const command of commands) expect(command).toMatch(/^[a-z]+ [a-z]+( (--)?[a-z]+)?$/)
    }
  })

  it('gives right skills 4 or 5 steps', () => {
    for (const { name } of rightSkills) expect([4, 5], name).toContain(procedures.get(name)!.length)
  })

  it('has no two skills with the same procedure or description', () => {
    const texts = [...procedures.values()].map((commands) => commands.join('\n'))
    expect(new Set(texts).size).toBe(120)
    expect(new Set(skills.skills.map((skill) => skill.description)).size).toBe(120)
  })

  it('fails whoever follows any other skill than the right one', () => {
    const filled = new Map(Array.from(procedures, ([name, commands]) => [name, commands]))
    for (const { name } of rightSkills) {
      for (const [other, commands] of filled) {
        expect((verify(commands, filled.get(name)!) as { reward: number }).reward).toBe(
          other === name ? 1 : 0,
        )
      }
    }
  })

  it('gives no word to misleading skills that right ones never have', () => {
    const misleading = new Set(domains.flatMap(misleadingSkills))
    const count = new Map<string, number>()
    for (const skill of skills.skills.filter(({ name }) => misleading.has(name))) {
      const words = new Set(`${skill.name} ${skill.description}`.toLowerCase().match(/[a-z]+/g))
      for (const word of words) count.set(word, (count.get(word) ?? 0) + 1)
    }
    const rightText = skills.skills.filter(({ name }) => !misleading.has(name))
    const rightWords = new Set(
      rightText.flatMap((s) => `${s.name} ${s.description}`.toLowerCase().match(/[a-z]+/g)),
    )
    for (const [word, times] of count) if (!rightWords.has(word)) expect(times, word).toBeLessThanOrEqual(6)
  })
})

describe('procedures', () => {
  const skill = { name: 'a-b', description: 'A.', location: '/skills/a-b/SKILL.md' }

  it('are the commands of the numbered steps, in order', () => {
    const content = 'Not `this one`.\n\n1. Open: `sheet open`\n2. Sort: `sheet sort --all`\n'
    expect(procedureOf({ ...skill, content })).toEqual(['sheet open', 'sheet sort --all'])
  })

  it('are asked for by name where there are none', () => {
    const missing = () => procedureOf({ ...skill, content: '# Title\n\nNo steps.\n' })
    expect(missing).toThrowError(/\/skills\/a-b\/SKILL\.md: expected numbered steps/)
  })
})
