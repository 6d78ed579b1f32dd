const MASK = (1n << 64n) - 1n

/** splitmix64: one step of a bijection on 64-bit integers that leaves no visible pattern. */
function mix(value: bigint): bigint {
  let z = (value + 0x9e3779b97f4a7c15n) & MASK
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK
  return z ^ (z >> 31n)
}

/**
 * Hash of a list of safe integers, itself a safe integer in [0, 2^53). A pure function of its parts, so whoever knows
 * where a random choice belongs (run seed, step, draw, place) knows its seed without any shared generator.
 */
export function hashIntegers(...parts: readonly number[]): number {
  let h = BigInt(parts.length)
  for (const part of parts) h = mix(h ^ BigInt.asUintN(64, BigInt(part)))
  return Number(h >> 11n)
}
