import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verify } from '../../../lib/environments/skill-lab/verify.js'
import { labTools, Workbench } from '../../../lib/environments/skill-lab/workbench.js'

const expected = ['sheet open a', 'sheet sort --by 4', 'sheet save a']

describe('the verifier', () => {
  it('wants every command, in order, and nothing else', () => {
    expect(verify(expected, expected)).toMatchObject({ reward: 1, details: { firstError: null } })
    expect(verify([], expected)).toMatchObject({ reward: 0, details: { firstError: 0 } })
    expect(verify(expected.slice(0, 2), expected)).toMatchObject({ reward: 0, details: { firstError: 2 } })
    expect(verify([...expected, 'sheet save a'], expected)).toMatchObject({
      reward: 0,
      details: { firstError: 3 },
    })
    expect(verify([...expected].reverse(), expected)).toMatchObject({ reward: 0, details: { firstError: 0 } })
    expect(verify(expected.with(1, 'sheet sort --by 5'), expected)).toMatchObject({
      details: { firstError: 1 },
    })
  })

  it('lets spaces pass, not letters', () => {
    expect(verify(expected.with(0, '  sheet  open a\n'), expected)).toMatchObject({ reward: 1 })
    expect(verify(expected.with(0, 'Sheet open a'), expected)).toMatchObject({ reward: 0 })
  })

  it('gives 1 for equal lists only', () => {
    const command = fc.constantFrom('a', 'b', 'c')
    fc.assert(
      fc.property(fc.array(command), fc.array(command), (one, other) => {
        const same = one.length === other.length && one.every((item, i) => item === other[i])
        expect(verify(one, other)).toMatchObject({ reward: same ? 1 : 0 })
      }),
    )
  })
})

describe('the workbench', () => {
  const open = () =>
    new Workbench((path) => (path === '/a' ? 'text' : undefined), new Set(['sheet open', 'sheet sort']))

  it('answers reads and numbers the commands it ran', () => {
    const bench = open()
    expect(bench.answer({ name: 'read', arguments: { path: '/a' } })).toBe('text')
    expect(bench.answer({ name: 'read', arguments: { path: '/b' } })).toBe('no such file')
    expect(bench.answer({ name: 'run', arguments: { command: 'sheet open x' } })).toBe('[1] ok')
    expect(bench.answer({ name: 'run', arguments: { command: 'sheet open y --fast' } })).toBe('[2] ok')
    expect(bench.answer({ name: 'run', arguments: { command: 'sheet' } })).toBe('[3] unknown command')
    expect(bench.executed).toEqual(['sheet open x', 'sheet open y --fast', 'sheet'])
  })

  it('survives any call', () => {
    const bench = open()
    for (const argument of [{}, { path: 3 }, { command: null }, { path: ['/a'] }, { command: {} }]) {
      for (const name of ['read', 'run', 'exec', '', '__proto__']) {
        expect(bench.answer({ name, arguments: argument })).toBeUndefined()
      }
    }
    expect(bench.executed).toEqual([])
    expect(labTools.map((tool) => tool.name)).toEqual(['read', 'run'])
  })
})
