import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { SkillgateError } from '../errors.js'

/** Locks of this process. */
const held = new Set<string>()

/**
 * Takes a run's folder for this process, so that no second one writes into it. The lock of a process that is gone does not count.
 * @returns gives the folder back
 * @throws ERR_OUTPUT_BUSY
 */
export function lockFolder(output: string): () => void {
  const path = join(output, 'run.lock')
  for (let attempt = 0; ; attempt++) {
    try {
      const file = openSync(path, 'wx')
      writeSync(file, `${process.pid} ${startOf(process.pid) ?? ''}\n`)
      closeSync(file)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const owner = livingOwner(path)
      if (owner !== undefined || attempt > 3) {
        const who = owner === undefined ? 'another process' : `process ${owner}`
        throw new SkillgateError(
          'ERR_OUTPUT_BUSY',
          `expected an output folder that no run is writing to, ${who} writes to ${output} (if it does not: delete ${path})`,
        )
      }
      rmSync(path, { force: true })
    }
  }
  held.add(path)
  return () => {
    if (held.delete(path)) rmSync(path, { force: true })
  }
}

/** The process that holds a lock, unless it is gone. */
function livingOwner(path: string): number | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const [pid = '', started = ''] = text.trim().split(' ')
  const owner = Number(pid)
  if (!Number.isSafeInteger(owner) || owner < 1) return undefined
  if (owner === process.pid) return held.has(path) ? owner : undefined
  try {
    process.kill(owner, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined
  }
  const now = startOf(owner)
  return started === '' || now === undefined || now === started ? owner : undefined
}

/** When a process began, in the kernel's ticks: tells a process from a later one with the same number. Linux only. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
