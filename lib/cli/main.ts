import { suggestion } from '../config/nearest.js'
import { SkillgateError } from '../errors.js'
import { type Command, exitCodes, type Surroundings } from './command.js'
import { commandHelp, topHelp } from './help.js'

/** Words that ask for help wherever they stand. */
const asksForHelp = (word: string) => word === '--help' || word === '-h'

/**
 * Runs the command that `argv` names.
 * @returns the exit code: 0 fine, 1 failed, 2 wrong use, 130 interrupted
 */
export async function main(commands: readonly Command[], surroundings: Surroundings): Promise<number> {
  const { argv, progress, errors, style } = surroundings
  const [name, ...rest] = argv
  if (name === undefined || asksForHelp(name) || name === 'help') {
    progress.line(topHelp(commands))
    return name === undefined ? exitCodes.usage : exitCodes.fine
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (!command) {
    const names = commands.map((candidate) => candidate.name)
    errors.line(
      style.red(
        `there is no command "${name}"${suggestion(name, names) || `; commands: ${names.join(', ')}`}`,
      ),
    )
    return exitCodes.usage
  }
  const end = rest.indexOf('--')
  if ((end < 0 ? rest : rest.slice(0, end)).some(asksForHelp)) {
    progress.line(commandHelp(command))
    return exitCodes.fine
  }
  try {
    return await command.run(rest, surroundings)
  } catch (error) {
    if (surroundings.signal.aborted) {
      progress.line('stopped')
      return exitCodes.interrupted
    }
    errors.line(style.red(errorText(error)))
    if (error instanceof SkillgateError && error.code === 'ERR_CONFIG') {
      errors.line(`skillgate ${name} --help lists the options`)
      return exitCodes.usage
    }
    return exitCodes.failed
  } finally {
    progress.end()
  }
}

/** Errors made on purpose by code and message; others with their stack, for a report. */
export function errorText(error: unknown): string {
  if (error instanceof SkillgateError) return `${error.code}: ${error.message}`
  return error instanceof Error
    ? `unexpected error: ${error.stack ?? error.message}`
    : `unexpected error: ${String(error)}`
}
