import { renameSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../../lib/addon/package-root.js'
import { SkillgateError } from '../../lib/errors.js'
import { Progress } from '../../lib/report/progress.js'
import { page } from './page.js'
import { peersPython } from './python.js'
import { runPeers } from './run-peers.js'

const help = `npm run bench:peers -- [options]

Races the CPU engine against OpenBLAS, MKL, PyTorch, transformers and TRL, and writes one table of ratios to
docs/performance.md: about 20 minutes on two cores.

  --quick         small shapes, 3 rounds; prints the table and writes nothing
  --all           every shape of the loss: hours
  --filter TEXT   only the experiments whose name contains TEXT (loss, density, terms, train, decode, shared);
                  prints the table and writes nothing
  --rounds N      rounds of a race (default 15)
  --minutes N     that it may take (default 25); on a slow machine the rounds become fewer, not less than five
  --threads N     threads of every contender (default: the processor's cores)
  --python PATH   an interpreter that has the packages of bench/peers/requirements.txt (default: SKILLGATE_PEERS_PYTHON,
                  else a virtual environment is made in bench/peers/.venv)
  --output FILE   where the table goes
  --help          this text
`

function positive(name: string, text: string): number {
  const n = Number(text)
  if (Number.isSafeInteger(n) && n > 0) return n
  throw new SkillgateError('ERR_BENCH', `--${name}: expected an integer of at least 1, got "${text}"`)
}

/** Whole or not at all. */
function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.part`, text)
  renameSync(`${file}.part`, file)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      filter: { type: 'string', default: '' },
      rounds: { type: 'string' },
      minutes: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      python: { type: 'string', default: process.env.SKILLGATE_PEERS_PYTHON ?? '' },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(help)
  if (values.quick && values.all) throw new SkillgateError('ERR_BENCH', 'expected --quick or --all, got both')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const progress = new Progress(process.stderr)
  const show = (text: string) => progress.live(text)
  const failures: string[] = []
  const { rows, circumstances } = await runPeers(
    {
      python: await peersPython(values.python, show),
      extent: values.quick ? 'quick' : values.all ? 'all' : 'usual',
      filter: values.filter,
      rounds: positive('rounds', values.rounds ?? (values.quick ? '3' : '15')),
      minutes: positive('minutes', values.minutes ?? (values.all ? '600' : '25')),
      threads: positive('threads', values.threads),
    },
    show,
    (text) => {
      failures.push(text)
      progress.line(text)
    },
  )
  progress.end()
  const text = page(rows, circumstances)
  const whole = !values.quick && values.filter === '' && failures.length === 0
  const file = values.output ?? (whole ? join(packageRoot(), 'docs', 'performance.md') : undefined)
  if (file === undefined) process.stdout.write(text)
  else {
    writeWhole(file, text)
    process.stdout.write(`wrote ${file}\n`)
  }
  if (failures.length > 0) process.exitCode = 1
}

main().catch((error: Error) => {
  process.stderr.write(`${error instanceof SkillgateError ? error.message : (error.stack ?? error)}\n`)
  process.exitCode = 1
})
