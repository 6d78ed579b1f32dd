import fc from 'fast-check'

const detached = () => {
  const array = new Float32Array(4)
  structuredClone(array.buffer, { transfer: [array.buffer] })
  return array
}

type Resizable = ArrayBuffer & { resize(bytes: number): void }

/** Over a buffer that shrank below it: out of bounds. */
const outOfBounds = () => {
  const Buffer = ArrayBuffer as unknown as new (n: number, o: { maxByteLength: number }) => Resizable
  const buffer = new Buffer(64, { maxByteLength: 128 })
  const array = new Int32Array(buffer, 16, 4)
  buffer.resize(8)
  return array
}

const lengths = fc.nat({ max: 70 })
const typedArrays = fc.oneof(
  fc.float32Array({ maxLength: 70 }),
  fc.int32Array({ maxLength: 70 }),
  fc.int32Array({ min: -1, max: 120, maxLength: 70 }),
  fc.uint8Array({ maxLength: 70 }),
  fc.float64Array({ maxLength: 8 }),
  fc.bigInt64Array({ maxLength: 8 }),
  lengths.map((n) => new Float32Array(n).fill(Number.NaN)),
  lengths.map((n) => new Int32Array(new SharedArrayBuffer(4 * n))),
  lengths.map((n) => new Float32Array(4 * n).subarray(n, 2 * n)),
  fc.constant(null).map(detached),
  fc.constant(null).map(outOfBounds),
)

const numbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    Number.NaN,
    Infinity,
    -Infinity,
    -0,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    2 ** 63,
    1e308,
    1e-308,
    5e-324,
  ),
  fc.bigInt(),
)

const strange = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.boolean(),
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constant(Symbol('s')),
  fc.constant(() => 1),
  fc.constant(new Proxy({}, {})),
  fc.constant(new Proxy([], {})),
  fc.constant(new Proxy(new Float32Array(4), {})),
  fc.constant(new ArrayBuffer(16)),
  fc.constant(new DataView(new ArrayBuffer(16))),
  fc.constant(new Array(1e6)),
  fc.constant(Object.create(null)),
  fc.constant(new Date()),
  fc.array(numbers, { maxLength: 5 }),
  fc.object({ maxDepth: 1 }),
)

/** Values that no argument expects, or that come near what it expects. */
export const garbage: fc.Arbitrary<unknown> = fc.oneof(typedArrays, numbers, strange)

/** `valid` with one to three of its fields replaced. */
export function spoiled<T extends object>(valid: T): fc.Arbitrary<T> {
  return fc
    .dictionary(fc.constantFrom(...Object.keys(valid)), garbage, {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    })
    .map((fields) => ({ ...valid, ...fields }))
}

/** What a call came to: 'resolved', or the code of its error; an error without a code is a failure of the test. */
export async function outcome(call: () => unknown): Promise<string> {
  try {
    await call()
    return 'resolved'
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^ERR_[A-Z_]+$/.test(String(error.code)))
      return String(error.code)
    throw new Error(`expected an error with a code, got ${String(error)}`, { cause: error })
  }
}
