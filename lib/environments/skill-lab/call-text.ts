/** The text of a tool call as the environment's model writes it: JSON between `<tool_call>` tags, as chat templates have it. */
export function callText(name: string, argument: Readonly<Record<string, string>>): string {
  const values = Object.entries(argument).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`)
  return `<tool_call>\n{"name": "${name}", "arguments": {${values.join(', ')}}}\n</tool_call>`
}
