import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { availableSkills } from '../../lib/skills/available-skills.js'
import { SkillLibrary } from '../../lib/skills/library.js'
import type { Slate } from '../../lib/skills/skill.js'
import { buildSlate, type SlateOptions, type SlateTask } from '../../lib/skills/slate.js'

const topics = ['pdf tables', 'csv cleaning', 'git bisect', 'docker images', 'photo editing', 'baking bread']

function libraryOf(size: number) {
  return new SkillLibrary(
    Array.from({ length: size }, (_, i) => ({
      name: `skill-${i}`,
      description: `Number${i} for ${topics[i % topics.length]}`,
      location: `/skills/skill-${i}/SKILL.md`,
      content: '',
    })),
  )
}

const library = libraryOf(60)
const task: SlateTask = {
  id: 'task-1',
  prompt: 'Please do some csv cleaning',
  oracle: ['skill-1'],
  misleading: ['skill-7', 'skill-13', 'skill-2', 'skill-3', 'skill-4', 'skill-5'],
}

const names = (slate: Slate, category?: string) =>
  slate.candidates
    .filter((one) => category === undefined || one.category === category)
    .map(({ skill }) => skill.name)

describe('a built slate', () => {
  it('has 16 candidates: 1 oracle, 5 relevant, 5 irrelevant, 5 misleading', () => {
    const slate = buildSlate(library, task)
    expect(slate.labelled).toBe(true)
    expect(new Set(names(slate)).size).toBe(16)
    expect(names(slate, 'oracle')).toEqual(['skill-1'])
    expect(names(slate, 'misleading').every((name) => task.misleading!.includes(name))).toBe(true)
    expect(names(slate, 'misleading').length).toBe(5)
    const relevant = names(slate, 'relevant').map((name) => library.byName(name)!.description)
    expect(relevant.length).toBe(5)
    for (const description of relevant) expect(description).toContain('csv cleaning')
    const irrelevant = names(slate, 'irrelevant').map((name) => library.byName(name)!.description)
    expect(irrelevant.length).toBe(5)
    for (const description of irrelevant) expect(description).not.toContain('csv')
  })

  it('depends on seed and task id alone', () => {
    const slate = names(buildSlate(library, task, { seed: 3 }))
    expect(names(buildSlate(libraryOf(60), { ...task }, { seed: 3 }))).toEqual(slate)
    expect(names(buildSlate(library, task, { seed: 4 }))).not.toEqual(slate)
    expect(names(buildSlate(library, { ...task, id: 'task-2' }, { seed: 3 }))).not.toEqual(slate)
  })

  it('shows the oracle in any place', () => {
    const places = Array.from({ length: 200 }, (_, seed) =>
      names(buildSlate(library, task, { seed })).indexOf('skill-1'),
    )
    expect(new Set(places).size).toBe(16)
  })

  it('takes all oracles, and fills what is missing with unrelated skills', () => {
    const slate = buildSlate(library, { ...task, oracle: ['skill-1', 'skill-19'], misleading: ['skill-2'] })
    expect(names(slate).length).toBe(16)
    expect(names(slate, 'oracle').sort()).toEqual(['skill-1', 'skill-19'])
    expect(names(slate, 'misleading')).toEqual(['skill-2'])
    expect(names(slate, 'irrelevant').length).toBe(8)
  })

  it('takes other numbers', () => {
    const slate = buildSlate(library, task, { relevant: 2, irrelevant: 3, misleading: 0 })
    expect(['oracle', 'relevant', 'irrelevant', 'misleading'].map((of) => names(slate, of).length)).toEqual([
      1, 2, 3, 0,
    ])
    expect(names(buildSlate(library, task, { size: 30 })).length).toBe(30)
    expect(names(buildSlate(library, task, { relevant: 0, irrelevant: 0, misleading: 0 }))).toEqual([
      'skill-1',
    ])
  })

  it('carries no category without a label', () => {
    for (const oracle of [undefined, []]) {
      const slate = buildSlate(library, { ...task, oracle })
      expect(slate.labelled).toBe(false)
      expect(slate.candidates.length).toBe(16)
      expect(slate.candidates.every((one) => !('category' in one))).toBe(true)
    }
  })

  it('is right for any library, task and numbers', () => {
    const count = fc.nat({ max: 8 })
    const scenario = fc.record({
      size: fc.integer({ min: 1, max: 25 }),
      relevant: count,
      irrelevant: count,
      misleading: count,
      seed: fc.nat(),
      labelled: fc.boolean(),
      prompt: fc.string(),
    })
    fc.assert(
      fc.property(scenario, ({ size, labelled, prompt, ...options }) => {
        const small = libraryOf(size)
        const most = 1 + options.relevant + options.irrelevant + options.misleading
        const made = {
          id: 't',
          prompt,
          oracle: labelled ? ['skill-0'] : [],
          misleading: size > 1 ? ['skill-1'] : [],
        }
        const slate = buildSlate(small, made, options)
        expect(new Set(names(slate)).size).toBe(slate.candidates.length)
        const offered = options.misleading > 0 || size < 2 ? size : size - 1
        expect(slate.candidates.length).toBe(Math.min(most, offered))
        expect(names(slate).includes('skill-0') || !labelled).toBe(true)
      }),
    )
  })
})

describe('a given slate', () => {
  it('is taken as it stands, shuffled, with the oracle', () => {
    const given = { relevant: ['skill-8'], irrelevant: ['skill-9', 'skill-10'], misleading: ['skill-11'] }
    const slate = buildSlate(library, { ...task, slate: given })
    expect(names(slate).sort()).toEqual(['skill-1', 'skill-10', 'skill-11', 'skill-8', 'skill-9'])
    expect(names(slate, 'misleading')).toEqual(['skill-11'])
    expect(names(buildSlate(library, { ...task, oracle: undefined, slate: given })).length).toBe(4)
  })
})

describe('what is wrong', () => {
  const refused = (message: RegExp, changed: Partial<SlateTask>, options: SlateOptions = {}) =>
    expect(() => buildSlate(library, { ...task, ...changed }, options)).toThrow(
      expect.objectContaining({ code: 'ERR_SLATE', message: expect.stringMatching(message) }),
    )

  it('is named with the task and the nearest name', () => {
    refused(/^task "task-1": unknown oracle skill "skil-12"; did you mean "skill-12"\?$/, {
      oracle: ['skil-12'],
    })
    refused(/^task "task-1": unknown misleading skill "quite different"$/, {
      misleading: ['quite different'],
    })
    refused(/unknown relevant skill "__proto__"/, { slate: { relevant: ['__proto__'] } })
    refused(/skill "skill-1" is both oracle and misleading/, { misleading: ['skill-1'] })
  })

  it('is named for options', () => {
    for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      refused(/expected relevant of a slate to be a whole number/, {}, { relevant: value })
    }
    refused(/expected a slate size of at least 1 oracle \+ 5 relevant.*, got 8/, {}, { size: 8 })
  })
})

describe('the block in the prompt', () => {
  it('shows name, description and location in order, as XML, and no category', () => {
    const skill = {
      name: 'a&b',
      description: 'Use <x>\n when "y"',
      location: "/skills/a'b/SKILL.md",
      content: '',
    }
    const other = { name: 'c', description: '北京', location: '/skills/c/SKILL.md', content: '' }
    const candidates = [{ skill, category: 'oracle' as const }, { skill: other }]
    expect(availableSkills({ candidates, labelled: true })).toBe(
      [
        '<available_skills>',
        '  <skill>',
        '    <name>a&amp;b</name>',
        '    <description>Use &lt;x&gt; when &quot;y&quot;</description>',
        '    <location>/skills/a&apos;b/SKILL.md</location>',
        '  </skill>',
        '  <skill>',
        '    <name>c</name>',
        '    <description>北京</description>',
        '    <location>/skills/c/SKILL.md</location>',
        '  </skill>',
        '</available_skills>',
      ].join('\n'),
    )
    expect(availableSkills({ candidates: [], labelled: false })).toBe(
      '<available_skills>\n</available_skills>',
    )
  })
})
