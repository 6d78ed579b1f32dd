import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FindReadsOptions, findSkillReads, readsOfTrajectory } from '../../lib/credit/reads.js'
import { parseToolCalls } from '../../lib/rollout/tool-calls.js'
import type { SlateEntry, TrajectorySequence } from '../../lib/rollout/trajectory.js'

const slate: SlateEntry[] = [
  { name: 'pdf-tables', location: '/skills/pdf-tables/SKILL.md', category: 'oracle' },
  { name: 'csv', location: '/skills/data/csv-clean/SKILL.md', category: 'relevant' },
  { name: '表格', location: '/skills/表格/SKILL.md', category: 'misleading' },
  { name: 'two words', location: '/skills/two words/SKILL.md', category: 'irrelevant' },
]

/** One token a byte, then the end of the turn. */
function turnOf(text: string | Uint8Array, end = '<|im_end|>') {
  const tokenBytes = [...Buffer.from(text as string)].map((byte) => Uint8Array.of(byte))
  if (end !== '') tokenBytes.push(Buffer.from(end))
  return { tokens: Int32Array.from(tokenBytes, (_, i) => i), tokenBytes }
}

function reads(text: string, options: Partial<FindReadsOptions> = {}, end?: string) {
  const turn = turnOf(text, end)
  const calls = parseToolCalls(text, { maxCalls: 100 }).calls.map(({ name, bytes }) => ({
    tool: name,
    bytes,
  }))
  const textOf = ({ start, end: stop }: { start: number; end: number }) =>
    Buffer.concat(turn.tokenBytes.slice(start, stop)).toString()
  return findSkillReads(turn, { calls, slate, ...options }).map((read) => ({
    skill: read.skill,
    category: read.category,
    tool: read.tool,
    identity: textOf(read.identity),
    call: textOf(read.call),
  }))
}

const json = (name: string, args: unknown) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`
const read = (path: string) => json('read', { path })
const exec = (command: string) => json('exec', { command })
const skillsOf = (text: string, options?: Partial<FindReadsOptions>) =>
  reads(text, options).map(({ skill }) => skill)

describe('which paths are skills', () => {
  it('is told by the slate: the place of the path, then the name', () => {
    expect(reads(read('/skills/data/csv-clean/SKILL.md'))).toMatchObject([
      { skill: 'csv', category: 'relevant', identity: 'csv-clean' },
    ])
    expect(reads(read('~/.claude/skills/pdf-tables/SKILL.md'))).toMatchObject([{ category: 'oracle' }])
    expect(reads(read('/skills/表格/readme.md'))).toMatchObject([
      { category: 'misleading', identity: '表格' },
    ])
    expect(reads(read('/skills/two words/SKILL.md'))).toMatchObject([{ category: 'irrelevant' }])
    expect(reads(read('/skills/data/other/SKILL.md'))).toMatchObject([
      { skill: 'other', category: 'unadvertised' },
    ])
    expect(reads(read('/skills/PDF-Tables/SKILL.md'))).toMatchObject([{ category: 'unadvertised' }])
  })

  it('is only its SKILL.md and README.md', () => {
    for (const path of [
      ...[
        '/skills/pdf-tables/run.py',
        '/skills/pdf-tables',
        '/skills/pdf-tables/',
        '/skills/SKILL.md',
        '/SKILL.md',
      ],
      ...[
        '/skills/pdf-tables/scripts/README.md',
        '/work/repo/README.md',
        '/skills/pdf-tables/SKILL.md.bak',
        '',
      ],
      ...['/skills/pdf-tables/SKILL.mdx', '/skills/pdf-tables/MY-SKILL.md', '/skills/pdf-tables/SKILL.md/x'],
    ]) {
      expect(skillsOf(read(path)), path).toEqual([])
      expect(skillsOf(exec(`cat ${path}`)), path).toEqual([])
    }
  })

  it('sees through dots, doubled slashes and the home folder; the name is where it stands', () => {
    for (const path of [
      ...['/skills/./pdf-tables/SKILL.md', '//skills//pdf-tables///SKILL.md', 'skills/pdf-tables/SKILL.md'],
      ...[
        '/skills/csv/../pdf-tables/SKILL.md',
        '/skills/pdf-tables/scripts/../SKILL.md',
        './skills/pdf-tables/./SKILL.md',
      ],
      ...[
        '~/skills/pdf-tables/SKILL.md',
        '/root/skills/pdf-tables/SKILL.md',
        '/home/ann/skills/pdf-tables/README.md',
      ],
    ]) {
      expect(reads(read(path)), path).toMatchObject([{ category: 'oracle', identity: 'pdf-tables' }])
      expect(reads(exec(`cat ${path}`)), path).toMatchObject([{ category: 'oracle', identity: 'pdf-tables' }])
    }
  })

  it('is told by the library for all paths beyond the slate, where it is asked', () => {
    const isSkill = (path: string) => (path === '/opt/k/deep/SKILL.md' ? 'deep skill' : undefined)
    expect(reads(read('/opt/k/deep/SKILL.md'), { isSkill })).toMatchObject([
      { skill: 'deep skill', category: 'unadvertised', identity: 'deep' },
    ])
    expect(skillsOf(read('/opt/k/deep/SKILL.md'))).toEqual([])
    expect(skillsOf(read('/skills/nowhere/SKILL.md'), { isSkill })).toEqual([])
    expect(skillsOf(read('/skills/pdf-tables/SKILL.md'), { isSkill })).toEqual(['pdf-tables'])
  })

  it('has no category without a label', () => {
    const unlabelled = [{ name: 'pdf-tables', location: '/skills/pdf-tables/SKILL.md' }]
    expect(reads(read('/skills/pdf-tables/SKILL.md'), { slate: unlabelled })).toMatchObject([
      { skill: 'pdf-tables', category: 'unadvertised' },
    ])
  })
})

describe('which calls read', () => {
  const path = '/skills/pdf-tables/SKILL.md'

  it('are read and exec, in any case, with or without a namespace', () => {
    expect(reads(read(path))).toMatchObject([{ tool: 'read' }])
    expect(reads(json('functions.Read', { path }))).toMatchObject([{ tool: 'read' }])
    expect(reads(json('EXEC', { command: `cat ${path}` }))).toMatchObject([{ tool: 'exec' }])
    for (const tool of ['write', 'reader', 'read.write', 'cat'])
      expect(reads(json(tool, { path }))).toEqual([])
    expect(skillsOf(json('open', { path }), { readTools: ['open'] })).toEqual(['pdf-tables'])
    expect(skillsOf(json('bash', { c: `less ${path}` }), { execTools: ['bash'] })).toEqual(['pdf-tables'])
  })

  it('are those of exec with a word that reads', () => {
    for (const word of 'cat sed awk grep head tail less more python python3 perl ruby node CAT'.split(' ')) {
      expect(skillsOf(exec(`${word} ${path}`)), word).toEqual(['pdf-tables'])
      expect(skillsOf(exec(`cd /;\n${word} ${path}`)), word).toEqual(['pdf-tables'])
      expect(skillsOf(exec(`ls x${word}y ${path}`)), word).toEqual([])
    }
    for (const command of [
      `ls ${path}`,
      `wc -l ${path}`,
      `python4 ${path}`,
      `读cat ${path}`,
      `cat_ ${path}`,
    ]) {
      expect(skillsOf(exec(command)), command).toEqual([])
    }
    expect(skillsOf(json('exec', { args: ['bash', '-c', { run: `head ${path}` }] }))).toEqual(['pdf-tables'])
  })

  it('count every path of a command', () => {
    const command = `cat "${path}" '/skills/data/csv-clean/SKILL.md' && (sed -n 1p </skills/表格/SKILL.md)`
    expect(skillsOf(exec(command))).toEqual(['pdf-tables', 'csv', '表格'])
    expect(skillsOf(exec(`cat ${path}; head ${path}`))).toEqual(['pdf-tables', 'pdf-tables'])
    expect(skillsOf(exec("grep -r x --include='/skills/two words/SKILL.md'"))).toEqual(['two words'])
    expect(skillsOf(exec('cat $HOME/.claude/skills/pdf-tables/SKILL.md'))).toEqual(['pdf-tables'])
    expect(skillsOf(exec('python3 -c "open(\'/skills/pdf-tables/SKILL.md\')"'))).toEqual(['pdf-tables'])
  })

  it('take a whole argument of read as the path, not a mention in it', () => {
    expect(skillsOf(json('read', { path: '/a.txt', why: `not ${path}.` }))).toEqual([])
    expect(skillsOf(json('read', { paths: [path, ' /skills/表格/SKILL.md\n'] }))).toEqual([
      'pdf-tables',
      '表格',
    ])
  })

  it('are only those that were dispatched', () => {
    const text = `${read(path)}\n${read('/skills/表格/SKILL.md')}`
    const [first] = parseToolCalls(text).calls
    expect(skillsOf(text, { calls: [{ tool: 'read', bytes: first!.bytes }] })).toEqual(['pdf-tables'])
    expect(skillsOf(text, { calls: [] })).toEqual([])
  })
})

describe('places', () => {
  const plain = '/skills/pdf-tables/SKILL.md'

  it('follow escapes in JSON', () => {
    for (const [path, identity] of [
      ['\\/skills\\/pdf-tables\\/SKILL.md', 'pdf-tables'],
      ['/skills/p\\u0064f-tables/SKILL.md', 'p\\u0064f-tables'],
      ['/skills/\\u8868\\u683c/SKILL.md', '\\u8868\\u683c'],
    ]) {
      const text = `é<tool_call>{"name": "read", "arguments": {"path": "${path}"}}</tool_call>`
      expect(reads(text)).toMatchObject([{ identity }])
    }
  })

  it('follow arguments that are text themselves', () => {
    const text = json('read', JSON.stringify({ path: plain, note: '"quoted" \\ 表' }))
    expect(reads(text)).toMatchObject([{ category: 'oracle', identity: 'pdf-tables' }])
    expect(reads(json('exec', JSON.stringify({ command: `grep "x" ${plain}` })))).toMatchObject([
      { identity: 'pdf-tables' },
    ])
  })

  it('are those of the argument that counts, where one is given twice', () => {
    const text = `<tool_call>{"name":"read","arguments":{"path":"/skills/表格/SKILL.md","path":"${plain}"}}</tool_call>`
    expect(skillsOf(text)).toEqual(['pdf-tables'])
  })

  it('of a call take in the end token after it, and the space between, but no text', () => {
    const call = read(plain)
    expect(reads(call)[0]?.call).toBe(`${call}<|im_end|>`)
    expect(reads(`${call}\n\n`)[0]?.call).toBe(`${call}\n\n<|im_end|>`)
    expect(reads(`${call}\nok`)[0]?.call).toBe(call)
    expect(reads(call, {}, '')[0]?.call).toBe(call)
    expect(reads(call, {}, '</s>')[0]?.call).toBe(`${call}</s>`)
    expect(reads(call, { endOfTurn: [] })[0]?.call).toBe(call)
    expect(reads(call, { endOfTurn: [Buffer.byteLength(call)] }, 'E')[0]?.call).toBe(`${call}E`)
  })

  it('of calls outside the turn are refused', () => {
    const calls = [{ tool: 'read', bytes: { start: 0, end: 1000 } }]
    expect(() => findSkillReads(turnOf('short'), { calls, slate })).toThrow(
      expect.objectContaining({
        code: 'ERR_READS',
        message: expect.stringMatching(/within the 15 of its turn/),
      }),
    )
  })
})

describe('any text, cut into tokens at any byte', () => {
  const name = fc.constantFrom('pdf-tables', '表格', '👩‍👩‍👧‍👦', 'e\u0301-x', 'naïve', 'a.b_c')
  const prose = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[<>]/g, '·'))
  const form = fc.constantFrom<'json' | 'ascii' | 'xml' | 'exec'>('json', 'ascii', 'xml', 'exec')

  /** The call, and the name in it as it is written. */
  function written(skill: string, kind: 'json' | 'ascii' | 'xml' | 'exec'): [string, string] {
    const path = `/skills/${skill}/SKILL.md`
    if (kind === 'xml') {
      return [
        `<tool_call>\n<function=read>\n<parameter=path>\n${path}\n</parameter>\n</function>\n</tool_call>`,
        skill,
      ]
    }
    if (kind === 'exec') return [exec(`cat "${path}" | head`), skill]
    if (kind === 'json') return [read(path), skill]
    const ascii = (text: string) =>
      text.replace(/[^ -~\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    return [ascii(read(path)), ascii(skill)]
  }

  it('a span holds the tokens that touch it, and no others', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ before: prose, skill: name, kind: form }), { minLength: 1, maxLength: 4 }),
        prose,
        fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 40 }),
        (parts, after, sizes) => {
          const text = `${parts.map((part) => part.before + written(part.skill, part.kind)[0]).join('')}${after}`
          const bytes = Buffer.from(text)
          const tokenBytes: Uint8Array[] = []
          for (let place = 0, i = 0; place < bytes.length; i++) {
            // A size of 0 is a token without bytes, as an id beyond the tokenizer's vocabulary has.
            const size = i % 50 === 49 ? 1 : sizes[i % sizes.length]!
            tokenBytes.push(bytes.subarray(place, place + size))
            place += size
          }
          const offsets: number[] = []
          for (const [i] of tokenBytes.entries())
            offsets.push((offsets[i - 1] ?? 0) + (tokenBytes[i - 1]?.length ?? 0))
          const calls = parseToolCalls(bytes, { maxCalls: 9 }).calls.map((call) => ({
            tool: call.name,
            bytes: call.bytes,
          }))
          const found = findSkillReads(
            { tokens: new Int32Array(tokenBytes.length), tokenBytes },
            { calls, slate },
          )
          expect(found.map(({ skill }) => skill)).toEqual(parts.map(({ skill }) => skill))

          let place = 0
          for (const [i, part] of parts.entries()) {
            const [call, identity] = written(part.skill, part.kind)
            const start = place + Buffer.byteLength(part.before)
            const nameStart = start + Buffer.byteLength(call.slice(0, call.indexOf(identity)))
            place = start + Buffer.byteLength(call)
            const touching = (from: number, to: number) =>
              tokenBytes.flatMap(({ length }, token) =>
                length > 0 && offsets[token]! < to && offsets[token]! + length > from ? [token] : [],
              )
            const within = (range: { start: number; end: number }) =>
              tokenBytes.flatMap(({ length }, token) =>
                length > 0 && token >= range.start && token < range.end ? [token] : [],
              )
            expect(within(found[i]!.call)).toEqual(touching(start, place))
            expect(within(found[i]!.identity)).toEqual(
              touching(nameStart, nameStart + Buffer.byteLength(identity)),
            )
            expect(found[i]!.identity.start).toBeGreaterThanOrEqual(found[i]!.call.start)
            expect(found[i]!.identity.end).toBeLessThanOrEqual(found[i]!.call.end)
          }
        },
      ),
      { numRuns: 80 },
    )
  })

  it('never fails on bytes that are no text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (noise, inside) => {
        const bytes = inside
          ? Buffer.concat([
              Buffer.from('<tool_call>{"name":"read","arguments":{"path":"'),
              noise,
              Buffer.from('"}}'),
            ])
          : Buffer.concat([noise, Buffer.from(read('/skills/pdf-tables/SKILL.md'))])
        const start = inside ? 0 : noise.length
        const calls = [{ tool: 'read', bytes: { start, end: bytes.length } }]
        const found = findSkillReads(turnOf(bytes, ''), { calls, slate })
        if (!inside)
          expect(found).toMatchObject([{ skill: 'pdf-tables', call: { start, end: bytes.length } }])
      }),
    )
  })

  it('reads long commands in one pass', () => {
    for (const piece of ['/SKILL.md', '/SKILL.md~', 'a/b/', '"', '\\', '{', '[', '/skills/x/SKILL.md ']) {
      const text = `<tool_call>${JSON.stringify({ name: 'exec', arguments: { c: `cat ${piece.repeat(5_000)}` } })}</tool_call>`
      const bytes = Buffer.from(text)
      const calls = [{ tool: 'exec', bytes: { start: 0, end: bytes.length } }]
      const turn = { tokens: new Int32Array(1), tokenBytes: [bytes] }
      expect(findSkillReads(turn, { calls, slate }).length).toBe(piece.includes('skills') ? 5_000 : 0)
    }
    const nested = Buffer.from(
      `<tool_call>{"name":"exec","arguments":${'['.repeat(50_000)}${']'.repeat(50_000)}}</tool_call>`,
    )
    const calls = [{ tool: 'exec', bytes: { start: 0, end: nested.length } }]
    expect(findSkillReads({ tokens: new Int32Array(1), tokenBytes: [nested] }, { calls, slate })).toEqual([])
  })
})

describe('reads of a trajectory', () => {
  const turns = [
    read('/skills/pdf-tables/SKILL.md'),
    exec('cat /skills/表格/SKILL.md'),
    read('/skills/x/SKILL.md'),
  ]
  const prompt = Buffer.from('<tool_call> in the prompt')
  const sequence = (texts: string[]): TrajectorySequence => {
    const ids: number[] = []
    const ranges = texts.map((text) => {
      ids.push(...prompt)
      const start = ids.length
      ids.push(...Buffer.from(text), 256)
      return { start, end: ids.length }
    })
    const tokens = Int32Array.from(ids)
    return {
      tokens,
      generated: new Uint8Array(tokens.length),
      logprobs: new Float32Array(tokens.length),
      turns: ranges,
    }
  }
  const bytesOf = (id: number) => (id === 256 ? Buffer.from('<|im_end|>') : Uint8Array.of(id))
  const dispatched = (number: number, sequence: number, turn: number) => {
    const { name, arguments: args, bytes } = parseToolCalls(turns[number]!).calls[0]!
    return { id: `call-${number}`, tool: name, arguments: args, sequence, turn, bytes }
  }

  it('count in their sequence, over several turns and sequences', () => {
    const sequences = [sequence(turns.slice(0, 2)), sequence(turns.slice(2))]
    const calls = [dispatched(0, 0, 0), dispatched(1, 0, 1), dispatched(2, 1, 0)]
    const found = readsOfTrajectory({ sequences, calls, slate }, bytesOf)
    expect(found.map(({ skill, sequence, turn }) => [skill, sequence, turn])).toEqual([
      ['pdf-tables', 0, 0],
      ['表格', 0, 1],
      ['x', 1, 0],
    ])
    for (const [i, entry] of found.entries()) {
      const { tokens, turns: ranges } = sequences[entry.sequence]!
      const text = ({ start, end }: { start: number; end: number }) =>
        Buffer.concat([...tokens.slice(start, end)].map(bytesOf)).toString()
      expect(entry.call).toEqual(ranges[entry.turn])
      expect(text(entry.call)).toBe(`${turns[i]}<|im_end|>`)
      expect(text(entry.identity)).toBe(['pdf-tables', '表格', 'x'][i])
    }
  })

  it('name a call of no turn', () => {
    expect(() => readsOfTrajectory({ sequences: [], calls: [dispatched(0, 0, 0)], slate }, bytesOf)).toThrow(
      expect.objectContaining({ code: 'ERR_READS', message: expect.stringMatching(/turn 0 of sequence 0/) }),
    )
  })
})
