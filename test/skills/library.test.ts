import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSkillLibrary, SkillLibrary } from '../../lib/skills/library.js'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skills-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function write(path: string, content: string | Uint8Array) {
  await mkdir(dirname(join(dir, path)), { recursive: true })
  await writeFile(join(dir, path), content)
}

const skill = (name: string, description = 'Does things') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nSteps.\n`

const refused = (message: string | RegExp) =>
  expect(loadSkillLibrary(dir)).rejects.toMatchObject({
    name: 'SkillgateError',
    code: 'ERR_SKILLS',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })

describe('a folder tree of SKILL.md files', () => {
  it('is read in a fixed order, with the locations an agent is told', async () => {
    await write('pdf/tables/SKILL.md', skill('pdf-tables', '"Tables: out of PDFs"'))
    await write('csv/SKILL.md', skill('csv'))
    await write('csv/notes.md', 'not a skill')
    await write('node_modules/x/SKILL.md', 'ignored')
    await write('.git/SKILL.md', 'ignored')
    const library = await loadSkillLibrary(dir)
    expect(library.skills.map(({ name, description, location }) => [name, description, location])).toEqual([
      ['csv', 'Does things', '/skills/csv/SKILL.md'],
      ['pdf-tables', 'Tables: out of PDFs', '/skills/pdf/tables/SKILL.md'],
    ])
    expect(library.byName('csv')?.content).toBe(skill('csv'))
    expect(library.byName('CSV')).toBeUndefined()
    const other = await loadSkillLibrary(dir, { prefix: '/root/.claude/skills/' })
    expect(other.byName('csv')?.location).toBe('/root/.claude/skills/csv/SKILL.md')
    expect(other.byPath('~/.claude/skills/csv/SKILL.md')?.name).toBe('csv')
  })

  it('finds a skill by any path to its SKILL.md or README.md', async () => {
    await write('pdf/tables/SKILL.md', skill('pdf-tables'))
    const library = await loadSkillLibrary(dir)
    for (const path of [
      ...['/skills/pdf/tables/SKILL.md', 'skills/pdf/tables/SKILL.md', './skills/pdf/tables/README.md'],
      ...[
        '/skills//pdf/./tables/SKILL.md',
        '/skills/csv/../pdf/tables/SKILL.md',
        '~/skills/pdf/tables/readme.md',
      ],
      ' /skills/pdf/tables/SKILL.md\n',
    ]) {
      expect(library.byPath(path)?.name, path).toBe('pdf-tables')
    }
    for (const path of [
      '/skills/pdf/tables',
      '/skills/pdf/SKILL.md',
      '/skills/tables/SKILL.md',
      'SKILL.md',
      '',
    ]) {
      expect(library.byPath(path), path).toBeUndefined()
    }
  })

  it('takes files as editors write them', async () => {
    await write(
      'a/SKILL.md',
      '\uFEFF---\r\nname: a\r\ndescription: >\r\n  Folded\r\n  text\r\nlicense: MIT\r\n---\r\nBody',
    )
    await write('b/SKILL.md', '---   \nname: "b"\ndescription: |\n  One\n---')
    const library = await loadSkillLibrary(dir)
    expect(library.skills.map(({ name, description }) => [name, description])).toEqual([
      ['a', 'Folded text'],
      ['b', 'One'],
    ])
  })

  it('follows links, and is not caught in a loop of them', async () => {
    await write('a/SKILL.md', skill('a'))
    await symlink(dir, join(dir, 'a', 'loop'))
    await symlink('itself', join(dir, 'itself'))
    const outside = await mkdtemp(join(tmpdir(), 'skills-'))
    await writeFile(join(outside, 'SKILL.md'), skill('linked'))
    await symlink(outside, join(dir, 'linked'))
    const library = await loadSkillLibrary(dir)
    expect(library.skills.map(({ location }) => location)).toEqual([
      '/skills/a/SKILL.md',
      '/skills/linked/SKILL.md',
    ])
    await rm(outside, { recursive: true })
  })
})

describe('what is wrong', () => {
  it('is reported for all files at once', async () => {
    await write('a-good/SKILL.md', skill('good'))
    await write('b-twice/SKILL.md', skill('good'))
    await write('c-empty/SKILL.md', '')
    await write('d-binary/SKILL.md', Buffer.from([0x2d, 0x2d, 0, 1]))
    await write('e-latin/SKILL.md', Buffer.from([0x6e, 0xe4, 0x68]))
    await write('f-huge/SKILL.md', `${skill('huge')}${'x'.repeat(1024 * 1024)}`)
    await write('g-plain/SKILL.md', '# No front matter\n---\nname: x\ndescription: y\n---\n')
    await write('h-open/SKILL.md', '---\nname: h\n')
    await write('i-fields/SKILL.md', '---\nname: 12\ntitle: x\n---\n')
    await write('j-blank/SKILL.md', '---\nname: " "\ndescription: [a]\n---\n')
    await write('k-yaml/SKILL.md', '---\nname: k\ndescription: Use when: a\n---\n')
    await write('l-list/SKILL.md', '---\n- a\n---\n')
    await write('m-keys/SKILL.md', '---\nname: m\nname: n\ndescription: x\n---\n')
    await write('n-case/skill.md', skill('n'))
    await write('o-lines/SKILL.md', '---\nname: "a\\nb"\ndescription: x\n---\n')
    await mkdir(join(dir, 'p-folder', 'SKILL.md'), { recursive: true })
    await symlink('nowhere', join(dir, 'p-folder', 'SKILL.md', 'SKILL.md'))
    await write('SKILL.md', skill('root'))
    await refused(
      [
        `16 problems with the skills of ${dir}:`,
        '  SKILL.md: expected SKILL.md in a folder of its own',
        '  n-case/skill.md: expected the file name SKILL.md',
        '  p-folder/SKILL.md/SKILL.md: the link leads nowhere',
        '  b-twice/SKILL.md: the name "good" is taken by a-good/SKILL.md',
        '  c-empty/SKILL.md: the file is empty',
        '  d-binary/SKILL.md: expected text, got a binary file',
        '  e-latin/SKILL.md: expected text in UTF-8, got a binary file',
        `  f-huge/SKILL.md: expected at most 1 MiB, got ${1024 * 1024 + skill('huge').length} bytes`,
        '  g-plain/SKILL.md: expected YAML front matter between two lines "---" at the beginning',
        '  h-open/SKILL.md: expected YAML front matter between two lines "---" at the beginning',
        '  i-fields/SKILL.md: expected "name" to be text, got 12, the field "description" is missing',
        '  j-blank/SKILL.md: the field "name" is empty, expected "description" to be text, got ["a"]',
        '  k-yaml/SKILL.md: the front matter is not valid YAML: Nested mappings are not allowed in compact mappings at line 2, column 14:',
        '  l-list/SKILL.md: expected front matter with the fields name and description',
        '  m-keys/SKILL.md: the front matter is not valid YAML: Map keys must be unique at line 2, column 1:',
        '  o-lines/SKILL.md: expected "name" to be one line of at most 200 characters',
      ].join('\n'),
    )
  })

  it('is named where there is no folder, or nothing in it', async () => {
    await refused(/one problem.*\n {2}expected at least one SKILL\.md, found none/)
    await write('a/file.txt', 'x')
    await refused(/found none/)
    await expect(loadSkillLibrary(join(dir, 'missing'))).rejects.toMatchObject({
      code: 'ERR_SKILLS',
      message: expect.stringMatching(/missing:\n {2}\.: cannot be read: ENOENT/),
    })
    await expect(loadSkillLibrary(join(dir, 'a/file.txt'))).rejects.toMatchObject({
      message: expect.stringMatching(/cannot be read: ENOTDIR/),
    })
  })

  it('survives YAML made to grow', async () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (const [i, key] of [...'bcdefghi'].entries()) {
      lines.push(`${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(', ')}]`)
    }
    await write('a/SKILL.md', `---\n${lines.join('\n')}\n---\n`)
    await refused(/not valid YAML: Excessive alias count/)
  })
})

describe('a library of given skills', () => {
  const given = (name: string, location: string) => ({ name, description: 'x', location, content: 'x' })

  it('refuses shared names and places', () => {
    const make =
      (...skills: ReturnType<typeof given>[]) =>
      () =>
        new SkillLibrary(skills)
    const error = (message: RegExp) =>
      expect.objectContaining({ code: 'ERR_SKILLS', message: expect.stringMatching(message) })
    expect(make(given('a', '/s/a/SKILL.md'), given('a', '/s/b/SKILL.md'))).toThrow(
      error(/the name "a" is taken by \/s\/a/),
    )
    expect(make(given('a', '/s/a/SKILL.md'), given('b', '/s/./a/SKILL.md'))).toThrow(
      error(/the folder is taken by/),
    )
    expect(make(given('a', '/s/a.md'))).toThrow(error(/location of "a" to end in <folder>\/SKILL\.md/))
    expect(make()().skills).toEqual([])
  })

  it('ranks by words of name and description, equal ones by name', () => {
    const library = new SkillLibrary([
      { ...given('zip', '/s/zip/SKILL.md'), description: 'Pack files' },
      { ...given('csv-clean', '/s/csv/SKILL.md'), description: 'Repair broken tables' },
      { ...given('ask', '/s/ask/SKILL.md'), description: 'Other' },
    ])
    const ranked = library.rank('The tables of this CSV are broken')
    expect(ranked.map(({ skill }) => skill.name)).toEqual(['csv-clean', 'ask', 'zip'])
    expect(ranked[0]!.score).toBeGreaterThan(0)
    expect(ranked[1]!.score).toBe(0)
  })
})
