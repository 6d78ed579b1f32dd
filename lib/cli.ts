#!/usr/bin/env node
import type { Command } from './cli/command.js'
import { doctorCommand } from './cli/doctor.js'
import { evalCommand } from './cli/eval.js'
import { stopOnInterrupt } from './cli/interrupt.js'
import { main } from './cli/main.js'
import { sftCommand } from './cli/sft.js'
import { showCommand } from './cli/show.js'
import { trainCommand } from './cli/train.js'
import { Progress } from './report/progress.js'
import { styleFor } from './report/style.js'

const commands: readonly Command[] = [trainCommand, sftCommand, evalCommand, showCommand, doctorCommand]

const progress = new Progress(process.stdout)
const errors = new Progress(process.stderr)
const style = styleFor(process.stdout, process.env.NO_COLOR)
const interrupt = stopOnInterrupt(() =>
  progress.line(style.yellow('stopping: saving the last completed step (once more: at once)')),
)
process.exitCode = await main(commands, {
  progress,
  errors,
  style,
  signal: interrupt.signal,
  argv: process.argv.slice(2),
})
interrupt.release()
