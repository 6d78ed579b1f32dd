import type { ToolCall, ToolDefinition } from '../../rollout/agent.js'
import { commandName } from './procedure.js'

function textParameter(name: string) {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
}

/** The two tools of the environment: read a file, run a command. */
export const labTools: readonly ToolDefinition[] = [
  { name: 'read', description: 'Show a file.', parameters: textParameter('path') },
  { name: 'run', description: 'Run a command.', parameters: textParameter('command') },
]

/**
 * Answers tool calls and keeps the commands that were run. An answer never tells whether a command was the right one:
 * any command of the library is `ok`, numbered in the order they came.
 */
export class Workbench {
  readonly executed: string[] = []
  readonly #read: (path: string) => string | undefined
  readonly #known: ReadonlySet<string>

  /** `known` holds the names (tool and verb) of all commands there are. */
  constructor(read: (path: string) => string | undefined, known: ReadonlySet<string>) {
    this.#read = read
    this.#known = known
  }

  /** undefined: there is no such tool, or it does not take these arguments. */
  answer(call: Pick<ToolCall, 'name' | 'arguments'>): string | undefined {
    const { path, command } = call.arguments
    if (call.name === 'read' && typeof path === 'string') return this.#read(path) ?? 'no such file'
    if (call.name === 'run' && typeof command === 'string') return this.#run(command)
    return undefined
  }

  #run(command: string): string {
    this.executed.push(command)
    const result = this.#known.has(commandName(command.trim())) ? 'ok' : 'unknown command'
    return `[${this.executed.length}] ${result}`
  }
}
