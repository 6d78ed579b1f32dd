import { parse } from 'yaml'

export interface FrontMatter {
  name: string
  description: string
}

/** Reads `name` and `description` from the YAML between the `---` lines that open a file. Throws an Error that says what is wrong. */
export function readFrontMatter(content: string): FrontMatter {
  const match = /^\uFEFF?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|$)/ms.exec(content)
  if (match?.index !== 0) {
    throw new Error('expected YAML front matter between two lines "---" at the beginning')
  }
  let fields: unknown
  try {
    fields = parse(match[1]!, { maxAliasCount: 50, logLevel: 'error' })
  } catch (error) {
    throw new Error(`the front matter is not valid YAML: ${(error as Error).message.split('\n')[0]}`)
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new Error('expected front matter with the fields name and description')
  }
  const wrong = ['name', 'description'].flatMap((field) => problem(field, fields as Record<string, unknown>))
  if (wrong.length > 0) throw new Error(wrong.join(', '))
  const { name, description } = fields as FrontMatter
  return { name: name.trim(), description: description.trim() }
}

function problem(field: string, fields: Record<string, unknown>): string[] {
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (value === undefined) return [`the field "${field}" is missing`]
  if (typeof value !== 'string') return [`expected "${field}" to be text, got ${JSON.stringify(value)}`]
  if (value.trim() === '') return [`the field "${field}" is empty`]
  const isName = field !== 'name' || (value.length <= 200 && !/[\n\r\t]/.test(value.trim()))
  return isName ? [] : ['expected "name" to be one line of at most 200 characters']
}
