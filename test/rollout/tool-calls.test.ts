import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseToolCalls } from '../../lib/rollout/tool-calls.js'

const xml = (name: string, parameters: Record<string, string>) => {
  const lines = Object.entries(parameters).map(
    ([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`,
  )
  return `<tool_call>\n<function=${name}>\n${lines.join('')}</function>\n</tool_call>`
}
const json = (name: string, args: unknown) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`

/** The bytes of a span, as text. */
const cut = (text: string, { start, end }: { start: number; end: number }) =>
  Buffer.from(text).subarray(start, end).toString()

const reasons = (text: string, options = {}) =>
  parseToolCalls(text, options).malformed.map(({ reason }) => reason)

describe('forms of calls', () => {
  it('reads XML, with one line break around a value taken off', () => {
    const text = xml('write', { path: '/a', content: '  two\n\nlines\n' })
    expect(parseToolCalls(text).calls).toEqual([
      {
        name: 'write',
        arguments: { path: '/a', content: '  two\n\nlines\n' },
        bytes: { start: 0, end: Buffer.byteLength(text) },
      },
    ])
    const tight = '<tool_call><function=f><parameter=a>1</parameter></function></tool_call>'
    expect(parseToolCalls(tight).calls[0]?.arguments).toEqual({ a: '1' })
    expect(
      parseToolCalls('<tool_call>\n<function=f>\n</function>\n</tool_call>').calls[0]?.arguments,
    ).toEqual({})
  })

  it('reads JSON, its arguments as an object, as text that holds one, or left out', () => {
    expect(parseToolCalls(json('read', { path: '/北京' })).calls[0]?.arguments).toEqual({ path: '/北京' })
    expect(parseToolCalls(json('read', '{"path": "/a"}')).calls[0]?.arguments).toEqual({ path: '/a' })
    expect(parseToolCalls('<tool_call>{"name": "now"}</tool_call>').calls[0]).toMatchObject({
      name: 'now',
      arguments: {},
    })
  })

  it('reads both kinds in one turn in order of appearance', () => {
    const parts = [json('a', {}), xml('b', { p: 'x' }), json('c', {}), xml('d', {})]
    const text = `先 🦊 ${parts.join('\nthen\n')}\nend`
    const { calls, content, malformed } = parseToolCalls(text)
    expect(calls.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
    expect(calls.map(({ bytes }) => cut(text, bytes))).toEqual(parts)
    expect(content).toBe('先 🦊 \nthen\n\nthen\n\nthen\n\nend')
    expect(malformed).toEqual([])
  })

  it('types XML values as the schema of the tool has them', () => {
    const properties = {
      n: { type: 'integer' },
      s: { type: 'string' },
      b: { type: 'boolean' },
      l: { type: 'array' },
      o: { type: ['object', 'null'] },
      any: {},
    }
    const tools = [{ name: 'f', description: '', parameters: { type: 'object', properties } }]
    const given = { n: '12', s: '12', b: 'true', l: '[1]', o: 'null', any: '1', toString: '5' }
    expect(parseToolCalls(xml('f', given), { tools }).calls[0]?.arguments).toEqual({
      n: 12,
      s: '12',
      b: true,
      l: [1],
      o: null,
      any: '1',
      toString: '5',
    })
    expect(parseToolCalls(xml('f', { n: 'twelve', b: '1' }), { tools }).calls[0]?.arguments).toEqual({
      n: 'twelve',
      b: '1',
    })
  })

  it('counts in bytes, also of bytes that are no text', () => {
    const call = Buffer.from(json('read', { path: '/a' }))
    const turn = Buffer.concat([Buffer.from([0xf0, 0x9f, 0xff]), call, Buffer.from([0xe4])])
    expect(parseToolCalls(turn).calls[0]?.bytes).toEqual({ start: 3, end: 3 + call.length })
    expect(parseToolCalls(turn).content).toBe('\uFFFD\uFFFD\uFFFD')
  })
})

describe('text that quotes calls', () => {
  it('finds no call in prose', () => {
    const text = 'I could call {"name": "read"} or <function=read>.'
    expect(parseToolCalls(text)).toEqual({ calls: [], malformed: [], content: text })
    expect(parseToolCalls('')).toEqual({ calls: [], malformed: [], content: '' })
  })

  it('finds the call after a tag that begins none', () => {
    const { calls, malformed } = parseToolCalls(`Between <tool_call> tags: ${json('read', {})}`)
    expect(calls.map(({ name }) => name)).toEqual(['read'])
    expect(malformed.map(({ text }) => text)).toEqual(['<tool_call> tags: '])
  })

  it('takes tags inside values as text', () => {
    const inner = `${json('rm', { path: '/' })} </parameter> and </function>`
    expect(parseToolCalls(json('write', { content: inner })).calls).toMatchObject([
      { name: 'write', arguments: { content: inner } },
    ])
    const plain = 'a </parameter> b </tool_call> c'
    expect(parseToolCalls(xml('write', { content: plain, x: '1' })).calls).toMatchObject([
      { name: 'write', arguments: { content: plain, x: '1' } },
    ])
  })

  it('runs no call out of a block of thoughts', () => {
    const text = `<think>\nmaybe ${json('rm', {})}\n</think>\n\n${json('read', {})}`
    expect(parseToolCalls(text).calls.map(({ name }) => name)).toEqual(['read'])
    expect(reasons(text)).toEqual(['inside a block of thoughts'])
    expect(parseToolCalls(json('write', { content: '</think>' })).calls.length).toBe(1)
  })
})

describe('what is no call', () => {
  it('is a call that was cut off, at whatever byte', () => {
    for (const whole of [json('read', { path: '/北.md' }), xml('read', { path: '/北.md' })]) {
      const bytes = Buffer.from(`Look: ${whole}`)
      for (let end = 0; end < bytes.length; end++) {
        const { calls, malformed } = parseToolCalls(bytes.subarray(0, end))
        expect(calls).toEqual([])
        if (end >= 'Look: <tool_call>'.length) expect(malformed[0]?.reason).toMatch(/cut off/)
      }
      expect(parseToolCalls(bytes).calls.length).toBe(1)
    }
  })

  it('is named with its reason', () => {
    const wrong: [string, RegExp][] = [
      [
        '<tool_call>\n{"name": "read", "arguments": {"path": "/a"}\n</tool_call>',
        /JSON of the call is not valid/,
      ],
      ['<tool_call>{"name": "read", "arguments": {"a": 01}}</tool_call>', /JSON of the call is not valid/],
      ['<tool_call>{"arguments": {}}</tool_call>', /expected a "name"/],
      ['<tool_call>{"name": " ", "arguments": {}}</tool_call>', /expected a "name"/],
      ['<tool_call>{"name": 5}</tool_call>', /expected a "name"/],
      ['<tool_call>{"name": "a", "arguments": []}</tool_call>', /"arguments" to be an object/],
      ['<tool_call>{"name": "a", "arguments": "text"}</tool_call>', /JSON of the call is not valid/],
      ['<tool_call>{"name": "a"} extra</tool_call>', /expected <\/tool_call> after the call/],
      ['<tool_call>hello</tool_call>', /expected a JSON object or <function=name>/],
      ['<tool_call></tool_call>', /expected a JSON object or <function=name>/],
      ['<tool_call><function=></function></tool_call>', /expected <function=name>/],
      ['<tool_call><function=f>text</function></tool_call>', /expected <parameter=name> or <\/function>/],
      ['<tool_call><function=f><parameter=a>x</function></tool_call>', /parameter "a" has no end/],
      [
        xml('f', { a: '1' }).replace('</function>', '<parameter=a>2</parameter></function>'),
        /"a" is given twice/,
      ],
    ]
    for (const [text, reason] of wrong) {
      expect(parseToolCalls(text).calls, text).toEqual([])
      expect(reasons(text), text).toEqual([expect.stringMatching(reason)])
    }
  })

  it('does not swallow the call that follows', () => {
    for (const text of [
      `<tool_call>\n{"name": "a"\n</tool_call>\n${json('next', {})}`,
      `<tool_call>{"name": "a"}\n${json('next', {})}`,
      `<tool_call><function=f><parameter=p>x</tool_call>\n${xml('next', { p: 'y' })}`,
    ]) {
      expect(parseToolCalls(text).calls.map(({ name }) => name)).toEqual(['next'])
      expect(reasons(text).length).toBe(1)
    }
  })

  it('is every call beyond the most of a turn', () => {
    const text = Array.from({ length: 7 }, (_, i) => xml('read', { path: `/${i}` })).join('\n')
    expect(parseToolCalls(text).calls.map((call) => call.arguments.path)).toEqual([
      '/0',
      '/1',
      '/2',
      '/3',
      '/4',
    ])
    expect(reasons(text)).toEqual(Array(2).fill('too many calls: at most 5 a turn'))
    expect(parseToolCalls(text, { maxCalls: 7 }).calls.length).toBe(7)
    expect(parseToolCalls(text, { maxCalls: 0 }).calls).toEqual([])
  })
})

describe('hostile input', () => {
  it('keeps prototypes out of reach', () => {
    const call = parseToolCalls('<tool_call>{"name": "f", "arguments": {"__proto__": {"x": 1}}}</tool_call>')
      .calls[0]!
    expect(Object.getPrototypeOf(call.arguments)).toBe(Object.prototype)
    expect((call.arguments as { x?: number }).x).toBeUndefined()
    const other = parseToolCalls(xml('f', { ['__proto__']: 'y', constructor: 'z' })).calls[0]!
    expect(Object.getPrototypeOf(other.arguments)).toBe(Object.prototype)
    expect(Object.keys(other.arguments)).toContain('constructor')
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  it('reads millions of bytes of broken calls in one pass', () => {
    const pieces = [
      ...[
        '<tool_call>',
        '<tool_call>{',
        '<tool_call>{"',
        '<tool_call><function=f><parameter=p>',
        '<tool_call><function=',
      ],
      ...[
        '<tool_call><function=f><parameter=p></tool_call>',
        '</tool_call>',
        '</think>',
        '</parameter>',
        '{"a":',
      ],
      ...['<tool_call>{"name": "a"}', '<tool_call>{"name": "a"}</tool_call></think>', '<tool_call>{"a":"\\"'],
    ]
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
      const { calls, malformed } = parseToolCalls(`${text}</parameter></function>`)
      expect(calls.length).toBe(0)
      expect(malformed.length).toBeGreaterThanOrEqual(piece.startsWith('<tool_call>') ? 1 : 0)
    }
  })

  it('any text: spans are ordered, disjoint, inside, and begin and end with tags', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<tool_call>',
        '</tool_call>',
        '<function=f>',
        '</function>',
        '<parameter=p>',
        '</parameter>',
      ),
      fc.constantFrom(
        '{"name": "a"}',
        '{"name": "b", "arguments": {"x": "',
        '"}}',
        '\n',
        '</think>',
        '北',
        '👩‍👧',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('')
        const { calls, malformed } = parseToolCalls(text)
        expect(calls.length).toBeLessThanOrEqual(5)
        const all = [...calls, ...malformed].map(({ bytes }) => bytes).sort((a, b) => a.start - b.start)
        let last = 0
        for (const { start, end } of all) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          last = end
        }
        expect(last).toBeLessThanOrEqual(Buffer.byteLength(text))
        for (const { bytes } of calls) expect(cut(text, bytes)).toMatch(/^<tool_call>[\s\S]*<\/tool_call>$/)
      }),
      { numRuns: 500 },
    )
  })

  it('any arguments come back as they were written', () => {
    const name = fc.constantFrom('read', 'exec', 'mcp.files-read')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, fc.dictionary(fc.string(), fc.jsonValue())), { maxLength: 5 }),
        (given) => {
          const text = given.map(([tool, args]) => json(tool, args)).join('\n')
          const found = parseToolCalls(text).calls.map((call) => [call.name, call.arguments])
          expect(found).toEqual(JSON.parse(JSON.stringify(given)))
        },
      ),
    )
  })
})
