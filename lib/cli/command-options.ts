import { configError, inspectOptions, type Problem } from '../config/check.js'
import { flagOf } from '../config/describe.js'
import { mergeOptions, readConfigFile } from '../config/load.js'
import type { OptionSet, OptionsOut, Shape } from '../config/option.js'
import { parseFlags } from './flags.js'

export const configFlag = {
  flag: '--config <path>',
  about:
    'JSON or YAML file with the options below, written as in `groupSize: 8`; flags go before it. Paths in it are meant from the file',
}

/** A command's words, read: options from the config file and the flags, not yet checked. */
export interface GivenOptions {
  options: Record<string, unknown>
  /** What came from flags, by option name. */
  flags: Record<string, unknown>
  positionals: string[]
  /** What is wrong with the flags themselves. */
  problems: Problem[]
}

/**
 * Options of a command line: the config file, overlaid by the flags.
 * @throws ERR_CONFIG where the config file cannot be read
 */
export function readGivenOptions(shape: Shape, argv: readonly string[], positionals = false): GivenOptions {
  const parsed = parseFlags(shape, argv, { config: { value: true } })
  const { config, ...flags } = parsed.options
  const fromFile = typeof config === 'string' ? readConfigFile(shape, config) : {}
  const problems = [...parsed.problems]
  if (!positionals) {
    for (const word of parsed.positionals)
      problems.push({ option: word, text: 'expected an option, got a word by itself' })
  }
  return { options: mergeOptions(shape, fromFile, flags), flags, positionals: parsed.positionals, problems }
}

/**
 * The checked options of a recipe; problems of flags, file and values are reported together, under the name the user wrote.
 * @throws ERR_CONFIG
 */
export function checkGivenOptions<S extends Shape>(set: OptionSet<S>, given: GivenOptions): OptionsOut<S> {
  const { problems, options } = inspectOptions(set, given.options)
  const named = problems.map(({ option, text }) => {
    const known = Object.hasOwn(set.shape, option)
    const inFile = Object.hasOwn(given.options, option) && !Object.hasOwn(given.flags, option)
    return { option: known && !inFile ? flagOf(option) : option, text }
  })
  const all = [...given.problems, ...named]
  if (all.length > 0) throw configError(set.recipe, all)
  return options as OptionsOut<S>
}
