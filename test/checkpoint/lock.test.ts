import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockFolder } from '../../lib/checkpoint/lock.js'
import { newFolder } from './fake-run.js'

const busy = expect.objectContaining({ code: 'ERR_OUTPUT_BUSY' })

it('a folder is taken once, and again when it is given back', () => {
  const output = newFolder()
  const release = lockFolder(output)
  expect(() => lockFolder(output)).toThrow(busy)
  release()
  expect(existsSync(join(output, 'run.lock'))).toBe(false)
  lockFolder(output)()
  release()
})

it('the lock of a process that lives counts, that of one that is gone or of a later one with its number does not', () => {
  const output = newFolder()
  const lock = join(output, 'run.lock')
  const parent = String(process.ppid)
  const stat = readFileSync(`/proc/${parent}/stat`, 'utf8')
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(lock, `${parent} ${started}\n`)
  expect(() => lockFolder(output)).toThrow(busy)
  for (const stale of [`${parent} 1\n`, '4194303 5\n', `${process.pid} 3\n`, '', 'garbage', '-1']) {
    writeFileSync(lock, stale)
    lockFolder(output)()
    expect(existsSync(lock)).toBe(false)
  }
})
