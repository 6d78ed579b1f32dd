import { z } from 'zod'
import { type OptionFacts, optionFacts, type Shape } from './option.js'

export interface OptionDescription extends OptionFacts {
  name: string
  /** As a command takes it, e.g. `--group-size`. */
  flag: string
  type: 'boolean' | 'integer' | 'number' | 'list' | 'text'
  /** e.g. `an integer from 2 to 1024`. */
  expected: string
  /** The words that are allowed, where only some are. */
  choices?: readonly string[]
  required: boolean
  default?: unknown
}

interface JsonSchema {
  type?: string
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  prefixItems?: JsonSchema[]
  minItems?: number
  anyOf?: JsonSchema[]
  default?: unknown
}

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function rangeText(json: JsonSchema): string {
  const low = json.minimum ?? Number.NEGATIVE_INFINITY
  const high = json.maximum ?? Number.POSITIVE_INFINITY
  const parts: string[] = []
  if (json.exclusiveMinimum !== undefined) parts.push(`above ${json.exclusiveMinimum}`)
  else if (low > Number.MIN_SAFE_INTEGER) parts.push(`from ${low}`)
  if (json.exclusiveMaximum !== undefined) parts.push(`below ${json.exclusiveMaximum}`)
  else if (high < Number.MAX_SAFE_INTEGER) parts.push(`to ${high}`)
  if (parts.length === 1 && parts[0]!.startsWith('from')) return ` of at least ${low}`
  if (parts.length === 1 && parts[0]!.startsWith('to')) return ` of at most ${high}`
  return parts.length > 0 ? ` ${parts.join(parts[0]!.startsWith('above') ? ', ' : ' ')}` : ''
}

function expectedText(json: JsonSchema): string {
  if (json.enum) return `one of ${json.enum.join(', ')}`
  if (json.const !== undefined) return String(json.const)
  if (json.type === 'boolean') return 'true or false'
  if (json.type === 'integer') return `an integer${rangeText(json)}`
  if (json.type === 'number') return `a number${rangeText(json)}`
  if (json.prefixItems) return `${json.prefixItems.length} values, each ${expectedText(json.prefixItems[0]!)}`
  if (json.anyOf) return [...new Set(json.anyOf.map(expectedText))].join(', or ')
  return json.type === 'string' ? 'a text' : 'a value'
}

function typeOf(json: JsonSchema): OptionDescription['type'] {
  if (json.prefixItems || json.type === 'array') return 'list'
  if (json.type === 'boolean' || json.type === 'integer' || json.type === 'number') return json.type
  return 'text'
}

/** Facts, type, range and default of every option, in the order they are written down. */
export function describeOptions(shape: Shape): OptionDescription[] {
  const json = z.toJSONSchema(z.object(shape), { unrepresentable: 'any', io: 'input' })
  const required = new Set(json.required)
  return Object.entries(shape).map(([name, schema]) => {
    const facts = optionFacts.get(schema)
    if (!facts) throw new TypeError(`option "${name}" is not described`)
    const property = (json.properties?.[name] ?? {}) as JsonSchema
    return {
      ...facts,
      name,
      flag: flagOf(name),
      type: typeOf(property),
      expected: facts.expects ?? expectedText(property),
      ...(property.enum && { choices: property.enum.map(String) }),
      required: required.has(name) && !schema.safeParse(undefined).success,
      default: property.default,
    }
  })
}
