/** Policies of a golden model, disposed of after each test, and what is asked of them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import { SkillgateError } from '../../lib/errors.js'
import { NativePolicy, type NativePolicyOptions } from '../../lib/policy/native-policy.js'
import { goldenFolder } from '../golden/tensors.js'

export const dir = join(goldenFolder, 'models', 'qwen3')
export const scratch = mkdtempSync(join(tmpdir(), 'skillgate-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const open: NativePolicy[] = []
export async function load(options?: NativePolicyOptions) {
  const policy = await NativePolicy.load(dir, { threads: 1, ...options })
  open.push(policy)
  return policy
}
afterEach(() => {
  for (const policy of open.splice(0)) policy.dispose()
})

export const prompt = Int32Array.of(5, 17, 3, 99, 42)
export const T = 60
export const packed = {
  tokens: Int32Array.from({ length: T }, (_, t) => (t * 31) % 113),
  sequenceOffsets: Int32Array.of(0, 25, T),
}
export const weight = Float32Array.from({ length: T }, (_, t) => (t === 0 || t === 25 ? 0 : 1 / T))
export const batch = { ...packed, advantage: new Float32Array(T).fill(1), weight }
/** Work for long enough that whatever is asked next finds it in flight. */
export const long = {
  tokens: Int32Array.from({ length: 480 }, (_, t) => t % 113),
  maxTokens: 30,
  temperature: 1,
}

export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error) => (error instanceof SkillgateError ? error.code : error),
  )
