import type { TokenRange } from '../rollout/trajectory.js'

/** A complete tool call in the bytes of a turn. */
export interface TurnCall {
  tool: string
  /** Tags included. */
  bytes: TokenRange
}

/**
 * The complete tool calls of an assistant turn, in order of appearance: between `<tool_call>` tags, a JSON object with `name`, or
 * `<function=name>` and its end. Calls inside a block of thoughts, and calls whose tool cannot be told, are none.
 */
export function turnCalls(turn: Uint8Array): TurnCall[] {
  // One character a byte: places in it are byte offsets, and every tag is ASCII.
  const text = Buffer.from(turn).toString('latin1')
  const calls: TurnCall[] = []
  let end = 0
  for (const match of text.matchAll(/<tool_call>(.*?)<\/tool_call>/gs)) {
    if (text.slice(end, match.index).includes('</think>')) calls.length = 0
    end = match.index + match[0].length
    const tool = toolOf(match[1]!.trim())
    if (tool !== undefined) calls.push({ tool, bytes: { start: match.index, end } })
  }
  return text.slice(end).includes('</think>') ? [] : calls
}

function toolOf(body: string): string | undefined {
  const xml = /^<function=([^<>\n]+)>.*<\/function>$/s.exec(body)
  if (xml) return xml[1]!.trim()
  try {
    const call: unknown = JSON.parse(body)
    const name = (call as { name?: unknown } | null)?.name
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
