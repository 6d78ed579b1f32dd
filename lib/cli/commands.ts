import { auditCommand } from './audit.js'
import type { Command } from './command.js'
import { compareCommand } from './compare.js'
import { doctorCommand } from './doctor.js'
import { evalCommand } from './eval.js'
import { selectionBcCommand, selectionDpoCommand } from './selection.js'
import { sftCommand } from './sft.js'
import { showCommand } from './show.js'
import { trainCommand } from './train.js'

/** In the order in which help lists them. */
export const commands: readonly Command[] = [
  trainCommand,
  sftCommand,
  selectionBcCommand,
  selectionDpoCommand,
  evalCommand,
  compareCommand,
  showCommand,
  auditCommand,
  doctorCommand,
]
