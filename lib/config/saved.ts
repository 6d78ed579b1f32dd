import { shown } from './check.js'
import { optionFacts, type Shape } from './option.js'

/** What a run's config.json holds: every option but those only a program can give. */
export function savedConfig(shape: Shape, options: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => {
      const facts = Object.hasOwn(shape, name) ? optionFacts.get(shape[name]!) : undefined
      const given = typeof value === 'function' || (facts?.path && typeof value !== 'string')
      return facts !== undefined && !facts.programOnly && !given && value !== undefined
    }),
  )
}

const plain = (value: unknown) => (typeof value === 'string' ? value : shown(value))

export interface ConfigDifferences {
  /** Differences that forbid going on with a checkpoint, in words. */
  forbidden: string[]
  /** Differences after which the last digits of the results are others. */
  rounding: string[]
}

/** An option that is not named stands for its default: a checkpoint may be older than the option. */
function givenOrDefault(shape: Shape, options: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(options, name)) return options[name]
  if (!Object.hasOwn(shape, name)) return undefined
  return shape[name]!.safeParse(undefined).data
}

/** How the options a checkpoint was made with differ from those of now, by what that means for going on. */
export function configDifferences(
  shape: Shape,
  saved: Record<string, unknown>,
  current: Record<string, unknown>,
): ConfigDifferences {
  const differences: ConfigDifferences = { forbidden: [], rounding: [] }
  for (const name of new Set([...Object.keys(saved), ...Object.keys(current)])) {
    const was = givenOrDefault(shape, saved, name)
    const is = givenOrDefault(shape, current, name)
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    const facts = Object.hasOwn(shape, name) ? optionFacts.get(shape[name]!) : undefined
    if (facts?.mayChange === 'freely') continue
    const kind = facts?.mayChange === 'rounding' ? differences.rounding : differences.forbidden
    kind.push(`${name}: ${plain(was)} in the checkpoint, ${plain(is)} now`)
  }
  return differences
}
