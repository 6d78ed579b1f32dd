import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { SkillgateError } from '../lib/errors.js'
import { Progress } from '../lib/report/progress.js'
import { measuredTable } from './op-table.js'
import { runBench } from './run-bench.js'

const help = `npm run bench -- [options]

Times the ops of the CPU engine (bench/native) and calls of the public API, and says how near each is to what the
machine can do in the same seconds.

  --filter TEXT   only the cases whose op and shape contain TEXT ("matmul", "policy_loss T 1024", "policy.")
  --rounds N      timed rounds a case (default 15)
  --threads N     threads of the engine (default: the processor's cores)
  --isa NAME      instruction set of the ops: portable, avx2 or avx512 (default: the best there is)
  --json          one JSON object instead of the table
  --help          this text
`

function positive(name: string, text: string): number {
  const n = Number(text)
  if (Number.isSafeInteger(n) && n > 0) return n
  throw new SkillgateError('ERR_BENCH', `--${name}: expected an integer of at least 1, got "${text}"`)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      filter: { type: 'string', default: '' },
      rounds: { type: 'string', default: '15' },
      threads: { type: 'string', default: String(availableParallelism()) },
      isa: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(help)
  const progress = new Progress(process.stderr)
  const options = {
    filter: values.filter,
    rounds: positive('rounds', values.rounds),
    threads: positive('threads', values.threads),
    instructionSet: values.isa,
  }
  const report = await runBench(options, (text) => progress.live(text))
  progress.end()
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : `${measuredTable(report)}\n`)
}

main().catch((error: Error) => {
  process.stderr.write(`${error instanceof SkillgateError ? error.message : (error.stack ?? error)}\n`)
  process.exitCode = 1
})
