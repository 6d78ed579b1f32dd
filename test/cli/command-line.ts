import { commands } from '../../lib/cli/commands.js'
import { main } from '../../lib/cli/main.js'
import { Progress } from '../../lib/report/progress.js'
import { styleFor } from '../../lib/report/style.js'

/** Runs a command line in this process. */
export async function commandLine(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({ write: (text: string) => (said[name] += text) })
  const code = await main(commands, {
    argv,
    progress: new Progress(stream('out')),
    errors: new Progress(stream('err')),
    style: styleFor({ write: () => true }, undefined),
    signal: new AbortController().signal,
  })
  return { code, ...said }
}
