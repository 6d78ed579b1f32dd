import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { SkillgateError } from '../errors.js'
import { shown } from './check.js'
import { optionFacts, type Shape } from './option.js'

const largestFile = 4 << 20

/** An object's own entries, in an object without a prototype's names. */
type Options = Record<string, unknown>

function parseText(file: string, text: string): unknown {
  try {
    return file.endsWith('.json') ? JSON.parse(text) : parseYaml(text, { maxAliasCount: 100 })
  } catch (error) {
    const kind = file.endsWith('.json') ? 'JSON' : 'YAML'
    throw new SkillgateError('ERR_CONFIG', `${file}: expected ${kind}, got: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function readText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > largestFile) {
      throw new SkillgateError('ERR_CONFIG', `${file}: expected at most ${largestFile} bytes, got ${size}`)
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof SkillgateError) throw error
    throw new SkillgateError('ERR_CONFIG', `cannot read the config file: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Makes the relative paths among the options absolute, from `base`. */
export function resolvePaths(shape: Shape, options: Options, base: string): Options {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => {
      const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
      const isPath =
        schema !== undefined && optionFacts.get(schema)?.path && typeof value === 'string' && value !== ''
      return [name, isPath ? resolve(base, value as string) : value]
    }),
  )
}

/**
 * The options of a JSON (`.json`) or YAML file, unchecked. Relative paths in it are meant from the file's own folder.
 * @throws ERR_CONFIG where the file cannot be read or does not hold an object
 */
export function readConfigFile(shape: Shape, file: string): Options {
  const value = parseText(file, readText(file))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SkillgateError('ERR_CONFIG', `${file}: expected options by name, got ${shown(value)}`)
  }
  return resolvePaths(shape, value as Options, dirname(resolve(file)))
}

/** File options, overlaid by flags; relative paths among the flags are meant from the working directory. */
export function mergeOptions(shape: Shape, fromFile: Options, flags: Options): Options {
  return { ...fromFile, ...resolvePaths(shape, flags, process.cwd()) }
}
