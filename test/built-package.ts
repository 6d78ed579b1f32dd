import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const root = new URL('..', import.meta.url).pathname

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.name.endsWith('.ts'),
  )
  return Math.max(...files.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs))
}

const isFresh = () => {
  const built = join(root, 'dist', 'lib', 'cli.js')
  return existsSync(built) && statSync(built).mtimeMs >= newest(join(root, 'lib'))
}

/** Compiles lib/ into dist/ where it is older than its sources: what a process of its own runs is what the tests see. */
export async function ensureBuilt(): Promise<void> {
  const lock = join(root, 'dist.lock')
  for (let waited = 0; !isFresh(); waited += 200) {
    try {
      mkdirSync(lock)
    } catch {
      if (waited > 120_000) rmSync(lock, { recursive: true, force: true })
      await sleep(200)
      continue
    }
    try {
      execFileSync(
        process.execPath,
        [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
        { cwd: root },
      )
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
}
