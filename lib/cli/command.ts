import type { OptionSet } from '../config/option.js'
import type { Progress } from '../report/progress.js'
import type { Style } from '../report/style.js'

/** What a command runs in: no command touches the process itself. */
export interface Surroundings {
  /** For results and for what goes on. */
  progress: Progress
  /** For what is wrong. */
  errors: Progress
  style: Style
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
  /** The words after `skillgate`, for the line that says how to go on. */
  argv: readonly string[]
}

export interface Command {
  name: string
  /** One line for the list of commands. */
  summary: string
  usage: string
  about: string
  /** Flags beside the options, and positional words. */
  extra: readonly { flag: string; about: string }[]
  /** Shown by `--help`; absent: the command takes no options of a recipe. */
  options?: OptionSet
  /** @returns the exit code */
  run(argv: readonly string[], surroundings: Surroundings): Promise<number>
}

export const exitCodes = { fine: 0, failed: 1, usage: 2, interrupted: 130 } as const
