import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { ensureBuilt, root } from '../built-package.js'

beforeAll(ensureBuilt, 180_000)

it.each(['train', 'sft'])(
  '%s killed with SIGKILL at random moments and resumed ends as if left alone',
  { timeout: 300_000 },
  (recipe) => {
    const script = join(root, 'scripts', 'kill-resume.mjs')
    const words = [script, '--kills', '3', '--seed', '1', '--recipe', recipe]
    const said = execFileSync(process.execPath, words, { encoding: 'utf8', cwd: root })
    expect(said).toContain('each run ended as the one left alone')
  },
)
