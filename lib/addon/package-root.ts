import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package: the nearest one above this file whose package.json is named skillgate. */
export function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  for (let dir = start; ; dir = dirname(dir)) {
    const file = join(dir, 'package.json')
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'skillgate') return dir
    if (dirname(dir) === dir) return start
  }
}

export function packageVersion(): string {
  return JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version
}
