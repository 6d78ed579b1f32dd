import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { SkillgateError } from '../errors.js'
import type { Addon } from './addon-types.js'
import { explainLoadFailure, type TriedFile } from './load-failure.js'
import { packageRoot } from './package-root.js'
import { describeSystem } from './system.js'

const require = createRequire(import.meta.url)

export interface LoadedAddon {
  addon: Addon
  file: string
}

/** Of this thread; a worker has its own. */
let loaded: LoadedAddon | undefined

/**
 * The native addon: build/Release of the package, else a prebuilt for this platform.
 * Throws SkillgateError ERR_ADDON: the platform, each file tried and why it did not load, and what mends it.
 */
export function loadAddon(): Addon {
  return loadedAddon().addon
}

export function loadedAddon(): LoadedAddon {
  if (loaded) return loaded
  const root = packageRoot()
  const tried: TriedFile[] = []
  for (const file of candidates(root)) {
    try {
      loaded = { addon: require(file) as Addon, file }
      break
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      tried.push({ file, message: message ?? String(error), code })
    }
  }
  if (!loaded) {
    throw new SkillgateError('ERR_ADDON', explainLoadFailure({ root, tried, system: describeSystem() }))
  }
  // Cleanup hooks alone do not cut process.exit() short: the threads must be told before.
  const { addon } = loaded
  process.on('exit', () => addon.stopAll())
  return loaded
}

/** What node-gyp-build finds, then each prebuilt of this platform that it may have passed over for a broken build. */
function candidates(root: string): string[] {
  const files = new Set<string>()
  try {
    files.add((require('node-gyp-build') as { path(dir: string): string }).path(root))
  } catch {
    // Nothing found: its message says less than ours.
  }
  const prebuilds = join(root, 'prebuilds', `${process.platform}-${process.arch}`)
  if (existsSync(prebuilds)) {
    for (const name of readdirSync(prebuilds)) if (name.endsWith('.node')) files.add(join(prebuilds, name))
  }
  return [...files]
}
