import { createHash } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SkillgateError } from '../errors.js'

const sampleBytes = 1 << 16
const samples = 32

/**
 * Names, sizes and content of a model folder's files as one hex text; of a large file, 32 places of 64 KiB each.
 * @throws ERR_MODEL_CONFIG where the folder cannot be read
 */
export async function folderFingerprint(dir: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await namesIn(dir)).sort()) {
    const file = await open(join(dir, name), 'r')
    try {
      const stat = await file.stat()
      if (!stat.isFile()) continue
      hash.update(`${name}\0${stat.size}\0`)
      const all = stat.size <= samples * sampleBytes
      const length = all ? stat.size : sampleBytes
      for (let i = 0; i < (all ? 1 : samples); i++) {
        const start = all ? 0 : Math.floor(((stat.size - sampleBytes) * i) / (samples - 1))
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
        hash.update(buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
  }
  return hash.digest('hex').slice(0, 32)
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    throw new SkillgateError(
      'ERR_MODEL_CONFIG',
      `expected a model folder at ${dir}: ${(cause as Error).message}`,
      { cause },
    )
  }
}

/** Content of plain data as one hex text. */
export function dataFingerprint(data: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(data) ?? 'nothing')
    .digest('hex')
    .slice(0, 32)
}
