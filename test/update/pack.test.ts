import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packMicroBatches, type TrainSequence } from '../../lib/update/pack.js'

function sequence(tokens: number[], weights: number[], kl?: number[]): TrainSequence {
  return {
    tokens: Int32Array.from(tokens),
    advantage: Float32Array.from(tokens, (token) => token / 2),
    weight: Float32Array.from(weights),
    behaviourLogprob: Float32Array.from(tokens, (token) => -token),
    ...(kl && { klWeight: Float32Array.from(kl) }),
  }
}
const plain = (length: number, from = 1) =>
  sequence(
    Array.from({ length }, (_, t) => from + t),
    Array.from({ length }, (_, t) => (t === 0 ? 0 : 1)),
  )
const indices = (sequences: TrainSequence[], microBatchTokens: number, sharePrefixes?: boolean) =>
  packMicroBatches(sequences, { microBatchTokens, sharePrefixes }).map((pack) => pack.indices)

test('fills each micro-batch up to the budget, in order', () => {
  const sequences = [plain(4, 100), plain(4, 200), plain(3, 300), plain(9, 400), plain(1, 500), plain(5, 600)]
  expect(indices(sequences, 8)).toEqual([[0, 1], [2], [3], [5]])
})

test('a prefix shared with the neighbour counts once, unless it is short or sharing is off', () => {
  const long = [plain(20), plain(22), plain(21)]
  expect(indices(long, 22)).toEqual([[0, 1, 2]])
  expect(indices(long, 22, false)).toEqual([[0], [1], [2]])
  const short = [plain(7), plain(7)]
  expect(indices(short, 13)).toEqual([[0], [1]])
})

test('leaves out what has no weight, and cuts what follows the last weight', () => {
  const sequences = [
    sequence([1, 2, 3], [0, 0, 0]),
    sequence([4, 5, 6, 7], [0, 1, 0, 0]),
    sequence([8, 9, 10], [0, 1, 0], [0, 0, 1]),
  ]
  const [pack, ...rest] = packMicroBatches(sequences, { microBatchTokens: 100 })
  expect(rest).toEqual([])
  expect(pack).toEqual({
    indices: [1, 2],
    sequenceOffsets: Int32Array.of(0, 2, 5),
    tokens: Int32Array.of(4, 5, 8, 9, 10),
    advantage: Float32Array.of(2, 2.5, 4, 4.5, 5),
    weight: Float32Array.of(0, 1, 0, 1, 0),
    klWeight: Float32Array.of(0, 0, 0, 0, 1),
    behaviourLogprob: Float32Array.of(-4, -5, -8, -9, -10),
  })
})

const batches = fc.array(
  fc.array(fc.record({ token: fc.nat({ max: 2 }), weight: fc.constantFrom(0, 0, 0.5, 1, 2) }), {
    minLength: 1,
    maxLength: 30,
  }),
  { minLength: 1, maxLength: 12 },
)

test('any split holds every weighted token once, with its neighbours, and keeps the sum of the weights', () => {
  fc.assert(
    fc.property(
      batches,
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      (rows, microBatchTokens, sharePrefixes) => {
        const sequences = rows.map((row) =>
          sequence(
            row.map((r) => r.token),
            row.map((r) => r.weight),
          ),
        )
        const packs = packMicroBatches(sequences, { microBatchTokens, sharePrefixes })
        const kept = packs.flatMap((pack) => pack.indices)
        expect(kept).toEqual([...kept].sort((a, b) => a - b))
        const sums = rows.map(() => 0)
        for (const pack of packs) {
          expect(pack.indices.length).toBeGreaterThan(0)
          for (const [i, index] of pack.indices.entries()) {
            const [start, end] = [pack.sequenceOffsets[i]!, pack.sequenceOffsets[i + 1]!]
            expect(pack.tokens.slice(start, end)).toEqual(sequences[index]!.tokens.slice(0, end - start))
            sums[index] = pack.weight.slice(start, end).reduce((a, b) => a + b, 0)
          }
          if (!sharePrefixes && pack.indices.length > 1)
            expect(pack.tokens.length).toBeLessThanOrEqual(microBatchTokens)
        }
        expect(sums).toEqual(sequences.map((s) => s.weight.reduce((a, b) => a + b, 0)))
      },
    ),
  )
})

test('arrays of unequal length, behaviour for some only, and a bad budget are refused', () => {
  const short = { ...plain(4), advantage: new Float32Array(3) }
  const without = { ...plain(4), behaviourLogprob: undefined }
  expect(() => indices([plain(4), short], 8)).toThrow(/4 values in advantage of sequence 1.*got 3/)
  expect(() => indices([plain(4), without], 8)).toThrow(/for all 2 sequences or for none, got it for 1/)
  for (const budget of [0, -1, 1.5, Number.NaN])
    expect(() => indices([plain(4)], budget)).toThrow(/microBatchTokens/)
})
