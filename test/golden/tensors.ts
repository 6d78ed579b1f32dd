import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const goldenFolder = join(import.meta.dirname, '..', 'fixtures', 'golden')

export interface GoldenTensors {
  names: string[]
  shape(name: string): number[]
  f32(name: string): Float32Array
  i32(name: string): Int32Array
}

/** A safetensors file of float32 and int32 tensors below golden/. */
export function goldenTensors(path: string): GoldenTensors {
  const bytes = readFileSync(join(goldenFolder, path))
  const length = Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length))
  const data = (name: string, dtype: string) => {
    const entry = header[name]
    if (entry?.dtype !== dtype) throw new Error(`${path}: no ${dtype} tensor ${name}`)
    const [start, end] = entry.data_offsets as [number, number]
    return new Uint8Array(bytes.subarray(8 + length + start, 8 + length + end)).buffer
  }
  return {
    names: Object.keys(header).filter((name) => name !== '__metadata__'),
    shape: (name) => header[name].shape,
    f32: (name) => new Float32Array(data(name, 'F32')),
    i32: (name) => new Int32Array(data(name, 'I32')),
  }
}

export function goldenJson(path: string) {
  return JSON.parse(readFileSync(join(goldenFolder, path), 'utf8'))
}

/** |got - wanted| / |wanted|, both as vectors; |got| where wanted is 0. */
export function frobenius(got: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (got.length !== wanted.length) return Number.NaN
  let difference = 0
  let norm = 0
  for (let i = 0; i < wanted.length; i++) {
    difference += (got[i]! - wanted[i]!) ** 2
    norm += wanted[i]! ** 2
  }
  return Math.sqrt(difference) / (norm > 0 ? Math.sqrt(norm) : 1)
}

/** The same bits, NaN included. */
export function sameBits(a: Float32Array, b: Float32Array): boolean {
  return (
    Buffer.compare(
      Buffer.from(a.buffer, a.byteOffset, a.byteLength),
      Buffer.from(b.buffer, b.byteOffset, b.byteLength),
    ) === 0
  )
}
