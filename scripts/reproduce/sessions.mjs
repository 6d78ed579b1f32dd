/** What made the runs: a line for each time the script ran. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { JsonLines, readJsonLines } from '../../dist/lib/report/json-lines.js'

const file = (root) => join(root, 'sessions.jsonl')

function commit() {
  try {
    return readFileSync('COMMIT', 'utf8').trim()
  } catch {}
  try {
    const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain', '--', 'lib', 'native') === '' ? '' : ', with changes'
    return `${git('rev-parse', '--short=10', 'HEAD')}${changed}`
  } catch {
    return 'unknown'
  }
}

/** The first digits of the addon's SHA-256. */
function addon() {
  try {
    return createHash('sha256')
      .update(readFileSync('build/Release/skillgate.node'))
      .digest('hex')
      .slice(0, 12)
  } catch {
    return 'unknown'
  }
}

/** Notes that a session begins; the function it gives back notes its end. */
export function noteSession(root) {
  const lines = new JsonLines(file(root))
  const session = new Date().toISOString()
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length }
  lines.write({ type: 'begin', session, commit: commit(), addon: addon(), ...machine })
  return () => {
    lines.write({ type: 'end', session, at: new Date().toISOString() })
    lines.close()
  }
}

/** Every session, with its end where it came to one. */
export function readSessions(root) {
  const lines = readJsonLines(file(root))
  return lines
    .filter(({ type }) => type === 'begin')
    .map((begin) => ({
      ...begin,
      end: lines.find(({ type, session }) => type === 'end' && session === begin.session)?.at,
    }))
}
