import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SkillgateError } from '../errors.js'

export interface SourceFiles {
  /** JSONL files with trajectories, in the order of the numbers in their names. */
  files: string[]
  /** The file of slates that lies beside them. */
  slates?: string
}

const SLATES = 'slates.jsonl'
/** Files of a run that hold no trajectories. */
const others = new Set([SLATES, 'metrics.jsonl'])

/**
 * What a path stands for: a file; the folder of a run (its `trajectories/`); or a folder of JSONL files.
 * @throws ERR_AUDIT where there is nothing to read
 */
export async function sourceFiles(source: string): Promise<SourceFiles> {
  const found = await stat(source).catch((cause: Error) => {
    throw new SkillgateError('ERR_AUDIT', `cannot read ${source}: ${cause.message}`, { cause })
  })
  if (!found.isDirectory()) return beside(dirname(source), [basename(source)])
  for (const folder of [join(source, 'trajectories'), source]) {
    const names = (await readdir(folder).catch(() => [])).filter(
      (name) => name.endsWith('.jsonl') && !name.startsWith('.') && !others.has(name),
    )
    if (names.length > 0) return beside(folder, names)
  }
  const expected = 'expected a run with trajectories/*.jsonl, or a folder of JSONL files'
  throw new SkillgateError('ERR_AUDIT', `${expected}, got ${source} without any`)
}

function beside(folder: string, names: string[]): SourceFiles {
  names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const slates = join(folder, SLATES)
  return { files: names.map((name) => join(folder, name)), ...(existsSync(slates) ? { slates } : {}) }
}
