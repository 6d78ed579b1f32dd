import { SkillgateError } from '../errors.js'
import type { ToolDefinition } from './agent.js'

export interface ReadTurnOptions {
  /** What the assistant writes, with `{location}` for the path. */
  readTurn?: string
  /** Tools whose argument is a path to read, and tools that run a command; the first that is offered is called. */
  readTools: readonly string[]
  execTools: readonly string[]
}

/**
 * The text of an assistant turn that reads a skill: `readTurn`, or one tool call as JSON between `<tool_call>` tags. The path goes into
 * the parameter named `path`, a command into `command`; where the tool has no such one, into its first text parameter.
 * @throws ERR_READ_TURN where no tool that reads is offered
 */
export function readTurnText(
  location: string,
  tools: readonly ToolDefinition[],
  { readTurn, readTools, execTools }: ReadTurnOptions,
): string {
  if (readTurn !== undefined) return readTurn.replaceAll('{location}', () => location)
  const plainName = ({ name }: ToolDefinition) => name.trim().toLowerCase().split('.').at(-1)!
  const offered = (names: readonly string[]) => tools.find((tool) => names.includes(plainName(tool)))
  const reader = offered(readTools)
  if (reader) return callText(reader, 'path', location)
  const runner = offered(execTools)
  if (runner) return callText(runner, 'command', `cat ${quoted(location)}`)
  const names = tools.map(({ name }) => name).join(', ') || 'none'
  throw new SkillgateError(
    'ERR_READ_TURN',
    `expected the agent to offer a tool that reads (${[...readTools, ...execTools].join(', ')}) in its first turn, got ${names}; ` +
      'readTools and execTools name such tools, readTurn gives the text of the turn',
  )
}

function callText(tool: ToolDefinition, usual: string, value: string): string {
  const properties = Object.entries((tool.parameters.properties ?? {}) as Record<string, { type?: unknown }>)
  const texts = properties.filter(([, schema]) => schema?.type === 'string').map(([name]) => name)
  const parameter = texts.includes(usual) ? usual : (texts[0] ?? usual)
  const call = `{"name": ${JSON.stringify(tool.name)}, "arguments": {${JSON.stringify(parameter)}: ${JSON.stringify(value)}}}`
  return `<tool_call>\n${call}\n</tool_call>`
}

/** A word for a shell. */
function quoted(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
