#!/usr/bin/env node
import { outliveReaders } from './cli/closed-output.js'
import { commands } from './cli/commands.js'
import { stopOnInterrupt } from './cli/interrupt.js'
import { main } from './cli/main.js'
import { Progress } from './report/progress.js'
import { styleFor } from './report/style.js'

outliveReaders()
const progress = new Progress(process.stdout)
const errors = new Progress(process.stderr)
const style = styleFor(process.stdout, process.env.NO_COLOR)
const { signal, release } = stopOnInterrupt(() => {
  progress.line(style.yellow('stopping: saving the last completed step (once more: at once)'))
})
process.exitCode = await main(commands, { progress, errors, style, signal, argv: process.argv.slice(2) })
release()
