import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance, nearestName } from '../../lib/config/nearest.js'

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['form', 'from', 1],
    ['steps', 'step', 1],
  ])('of %j and %j is %i', (a, b, distance) => expect(editDistance(a, b)).toBe(distance))

  it('is symmetric, 0 only between equals, and never above the longer length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b)
        expect(distance).toBe(editDistance(b, a))
        expect(distance === 0).toBe(a === b)
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })
})

describe('nearestName', () => {
  const known = ['groupSize', 'groupsPerStep', 'learningRate', 'steps', 'topP']
  it.each([
    ['groupsize', 'groupSize'],
    ['group-size', 'groupSize'],
    ['lerningRate', 'learningRate'],
    ['rate', 'learningRate'],
    ['stpes', 'steps'],
    ['top_p', 'topP'],
  ])('takes %j for %j', (given, name) => expect(nearestName(given, known)).toBe(name))
  it('says nothing where none is near', () => {
    expect(nearestName('quantumFlux', known)).toBeUndefined()
    expect(nearestName('', known)).toBeUndefined()
  })
})
