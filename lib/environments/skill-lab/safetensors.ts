import { SkillgateError } from '../../errors.js'

export interface FloatTensor {
  name: string
  shape: readonly number[]
  values: Float32Array
}

/** The bytes of a safetensors file of float32 tensors, in the order given. */
export function encodeSafetensors(tensors: readonly FloatTensor[]): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } }
  let length = 0
  for (const { name, shape, values } of tensors) {
    const count = shape.reduce((product, size) => product * size, 1)
    if (count !== values.length) {
      const message = `${name}: expected ${count} values for the shape [${shape.join(', ')}], got ${values.length}`
      throw new SkillgateError('ERR_SKILL_LAB', message)
    }
    header[name] = { dtype: 'F32', shape, data_offsets: [length, length + 4 * count] }
    length += 4 * count
  }
  const json = JSON.stringify(header)
  // Padded with spaces to a multiple of 8, so that the numbers are aligned.
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8))
  const bytes = new Uint8Array(8 + text.length + length)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(0, BigInt(text.length), true)
  bytes.set(text, 8)
  let place = 8 + text.length
  for (const { values } of tensors) {
    for (let i = 0; i < values.length; i++) view.setFloat32(place + 4 * i, values[i]!, true)
    place += 4 * values.length
  }
  return bytes
}
