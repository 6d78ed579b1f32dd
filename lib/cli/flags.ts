import type { Problem } from '../config/check.js'
import { describeOptions, type OptionDescription } from '../config/describe.js'
import { nearestName } from '../config/nearest.js'
import type { Shape } from '../config/option.js'

export interface ParsedFlags {
  /** Values by option name, as far as they can be read; whether they are right is for the option's schema to say. */
  options: Record<string, unknown>
  positionals: string[]
  problems: Problem[]
  help: boolean
}

/** What a command takes beside its options. */
export interface ExtraFlags {
  /** Name of the flag without dashes, and whether a value follows it. */
  [name: string]: { value: boolean }
}

const listItem = (text: string) =>
  text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : text.trim()

function readValue(description: Pick<OptionDescription, 'type'> | undefined, text: string): unknown {
  switch (description?.type) {
    case 'integer':
    case 'number':
      return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'list':
      return text.split(',').map(listItem)
    default:
      return text
  }
}

/**
 * Reads `--name value`, `--name=value`, `--name` and `--no-name` of true-or-false options, `--help` and `-h`; after `--` all is positional.
 * Names may be written as in a config file too (`--groupSize`). Every problem is kept, with the nearest right name.
 */
export function parseFlags(shape: Shape, argv: readonly string[], extra: ExtraFlags = {}): ParsedFlags {
  const descriptions = describeOptions(shape).filter((description) => !description.programOnly)
  const byFlag = new Map(descriptions.flatMap((d) => [[d.flag, d] as const, [`--${d.name}`, d] as const]))
  const flags = [
    ...descriptions.map((d) => d.flag),
    ...Object.keys(extra).map((name) => `--${name}`),
    '--help',
  ]
  const parsed: ParsedFlags = { options: {}, positionals: [], problems: [], help: false }
  const rest = [...argv]
  while (rest.length > 0) {
    const word = rest.shift()!
    if (word === '--') {
      parsed.positionals.push(...rest.splice(0))
    } else if (word === '--help' || word === '-h') {
      parsed.help = true
    } else if (!word.startsWith('-') || word === '-') {
      parsed.positionals.push(word)
    } else {
      const at = word.startsWith('--') ? word.indexOf('=') : -1
      const flag = at < 0 ? word : word.slice(0, at)
      const attached = at < 0 ? undefined : word.slice(at + 1)
      readFlag(flag, attached, rest)
    }
  }
  return parsed

  function readFlag(flag: string, attached: string | undefined, following: string[]): void {
    const description = byFlag.get(flag)
    const own = Object.hasOwn(extra, flag.slice(2)) ? extra[flag.slice(2)] : undefined
    const positive = flag.startsWith('--no-') ? byFlag.get(`--${flag.slice(5)}`) : undefined
    if (positive?.type === 'boolean' && attached === undefined) {
      parsed.options[positive.name] = false
    } else if (!description && !own) {
      const near = nearestName(flag, flags)
      parsed.problems.push({
        option: flag,
        text: `there is no such option${near ? `; did you mean ${near}?` : ''}`,
      })
      if (attached === undefined && following[0] !== undefined && !following[0].startsWith('-'))
        following.shift()
    } else {
      const name = description?.name ?? flag.slice(2)
      const needsValue = description ? description.type !== 'boolean' : own!.value
      const isValue = (word: string | undefined) =>
        word !== undefined && (!word.startsWith('-') || /^-[\d.]/.test(word))
      const text = attached ?? (needsValue && isValue(following[0]) ? following.shift() : undefined)
      if (text !== undefined) parsed.options[name] = readValue(description, text)
      else if (!needsValue) parsed.options[name] = true
      else
        parsed.problems.push({
          option: flag,
          text: `expected ${description?.expected ?? 'a value'} after it, got nothing`,
        })
    }
  }
}
