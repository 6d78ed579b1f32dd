import type { ToolDefinition } from './agent.js'
import { jsonObjectEnd } from './json-end.js'
import type { TokenRange } from './trajectory.js'

export interface ParsedCall {
  name: string
  arguments: Record<string, unknown>
  /** Byte range of the call, opening and closing tags included. */
  bytes: TokenRange
}

export interface MalformedCall {
  text: string
  reason: string
  bytes: TokenRange
}

export interface ParsedTurn {
  /** In order of appearance. */
  calls: ParsedCall[]
  malformed: MalformedCall[]
  /** The text outside calls, malformed ones too. */
  content: string
}

export interface ToolCallOptions {
  /** Calls beyond these are malformed. Default 5. */
  maxCalls?: number
  /** Their schemas tell which XML parameters are numbers, booleans, lists or objects; all are text without. */
  tools?: readonly ToolDefinition[]
}

/** A call as its body reads, `end` where its closing tag must follow; or why it is none, and whether it began as one. */
type Body =
  | { name: string; arguments: Record<string, unknown>; end: number }
  | { reason: string; begun?: boolean }

const OPEN = '<tool_call>'
const CLOSE = '</tool_call>'
/** A value may hold closing tags: it ends where another parameter or the end of the function follows. */
const VALUE_END = /<\/parameter>(?=[ \t\r\n]*(?:<parameter=|<\/function>))/g

/**
 * The tool calls of an assistant turn, in Qwen's XML form (`<function=name>`, `<parameter=name>`) or as a JSON object with
 * `name` and `arguments`, between `<tool_call>` tags. Byte ranges count in the turn's bytes, in UTF-8 where a text is given.
 * A call without its closing tag (a turn cut off by the token limit), or inside a block of thoughts, is malformed.
 */
export function parseToolCalls(turn: string | Uint8Array, options: ToolCallOptions = {}): ParsedTurn {
  // One character a byte: places in it are byte offsets, and every tag is ASCII.
  const source = Buffer.from(turn as Uint8Array).toString('latin1')
  const valueEnds = Array.from(source.matchAll(VALUE_END), (match) => match.index)
  const found: (ParsedCall | MalformedCall)[] = []
  let thoughts = 0
  let outside = ''
  let place = 0
  for (;;) {
    const start = source.indexOf(OPEN, place)
    const between = source.slice(place, start < 0 ? undefined : start)
    if (between.includes('</think>')) thoughts = found.length
    outside += between
    if (start < 0) break
    const item = readCall(source, start, valueEnds, options.tools)
    found.push(item)
    place = item.bytes.end
  }

  const limit = options.maxCalls ?? 5
  const calls: ParsedCall[] = []
  const rejected: MalformedCall[] = []
  for (const [i, item] of found.entries()) {
    if ('reason' in item) rejected.push(item)
    else if (i < thoughts) rejected.push(malformed(source, item.bytes, 'inside a block of thoughts'))
    else if (calls.length < limit) calls.push(item)
    else rejected.push(malformed(source, item.bytes, `too many calls: at most ${limit} a turn`))
  }
  return { calls, malformed: rejected, content: decode(outside).trim() }
}

function readCall(
  source: string,
  start: number,
  valueEnds: readonly number[],
  tools?: readonly ToolDefinition[],
): ParsedCall | MalformedCall {
  const bodyStart = skipSpace(source, start + OPEN.length)
  const body = source.startsWith('<function=', bodyStart)
    ? readXml(source, bodyStart, valueEnds, tools)
    : readJson(source, bodyStart)
  if (!('reason' in body)) {
    const close = skipSpace(source, body.end)
    if (source.startsWith(CLOSE, close)) {
      return { name: body.name, arguments: body.arguments, bytes: { start, end: close + CLOSE.length } }
    }
  }
  const begun = 'reason' in body ? (body.begun ?? true) : false
  const end = malformedEnd(source, 'reason' in body ? bodyStart : body.end, begun)
  const closed = source.startsWith(CLOSE, end - CLOSE.length)
  const reason = 'reason' in body ? body.reason : `expected ${CLOSE} after the call`
  const cutOff = !closed && end === source.length
  return malformed(source, { start, end }, cutOff ? `no closing ${CLOSE}: the turn was cut off` : reason)
}

/**
 * A call that begins and goes wrong is left at the next closing tag, since what it quotes is no call. A tag that begins none,
 * or a call whose closing tag is missing, is left at the next opening tag too.
 */
function malformedEnd(source: string, start: number, begun: boolean): number {
  const open = begun ? -1 : source.indexOf(OPEN, start)
  const limit = open < 0 ? source.length : open
  const close = source.slice(start, limit).indexOf(CLOSE)
  return close < 0 ? limit : start + close + CLOSE.length
}

function readJson(source: string, start: number): Body {
  if (source[start] !== '{')
    return { reason: 'expected a JSON object or <function=name> in the call', begun: false }
  const end = jsonObjectEnd(source, start)
  if (end === undefined) return { reason: 'the JSON of the call is not valid' }
  try {
    const call: unknown = JSON.parse(decode(source.slice(start, end)))
    const { name, arguments: given = {} } = call as { name?: unknown; arguments?: unknown }
    if (typeof name !== 'string' || name.trim() === '') return { reason: 'expected a "name" in the call' }
    const args: unknown = typeof given === 'string' ? JSON.parse(given) : given
    if (typeof args !== 'object' || args === null || Array.isArray(args)) {
      return { reason: 'expected "arguments" to be an object' }
    }
    return { name: name.trim(), arguments: args as Record<string, unknown>, end }
  } catch (error) {
    return { reason: `the JSON of the call is not valid: ${(error as Error).message}` }
  }
}

function readXml(
  source: string,
  start: number,
  valueEnds: readonly number[],
  tools?: readonly ToolDefinition[],
): Body {
  const head = tag(source, start, '<function=')
  if (head === undefined) return { reason: 'expected <function=name> in the call' }
  const tool = tools?.find((candidate) => candidate.name === head.name)
  const values = new Map<string, unknown>()
  let place = skipSpace(source, head.end)
  while (!source.startsWith('</function>', place)) {
    const parameter = tag(source, place, '<parameter=')
    if (parameter === undefined) return { reason: 'expected <parameter=name> or </function> in the call' }
    if (values.has(parameter.name)) return { reason: `parameter "${parameter.name}" is given twice` }
    const end = firstAtLeast(valueEnds, parameter.end)
    if (end === undefined || holdsCall(source, parameter.end, end))
      return { reason: `parameter "${parameter.name}" has no end` }
    const text = decode(source.slice(parameter.end, end))
      .replace(/^\r?\n/, '')
      .replace(/\r?\n$/, '')
    values.set(parameter.name, typed(text, tool, parameter.name))
    place = skipSpace(source, end + '</parameter>'.length)
  }
  return { name: head.name, arguments: Object.fromEntries(values), end: place + '</function>'.length }
}

/** `<function=name>` or `<parameter=name>` at `start`. */
function tag(source: string, start: number, opening: string): { name: string; end: number } | undefined {
  if (!source.startsWith(opening, start)) return undefined
  const length = source.slice(start, start + 300).indexOf('>')
  const end = start + length
  const name = length < 0 ? '' : decode(source.slice(start + opening.length, end)).trim()
  return name === '' || /[<\n"]/.test(name) ? undefined : { name, end: end + 1 }
}

/** True for a value that runs into the next call: its own end is missing. */
function holdsCall(source: string, start: number, end: number): boolean {
  const close = source.indexOf(CLOSE, start)
  if (close < 0 || close >= end) return false
  const open = source.indexOf(OPEN, close)
  return open >= 0 && open < end
}

/** The first entry of an ascending list that is `least` or more. */
function firstAtLeast(ascending: readonly number[], least: number): number | undefined {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < least) low = middle + 1
    else high = middle
  }
  return ascending[low]
}

/** A parameter's text as its schema's type; the text itself where it has none or does not read as it. */
function typed(text: string, tool: ToolDefinition | undefined, parameter: string): unknown {
  const properties = tool?.parameters.properties
  if (typeof properties !== 'object' || properties === null || !Object.hasOwn(properties, parameter))
    return text
  const type = (properties as Record<string, { type?: unknown } | null>)[parameter]?.type
  const wanted = Array.isArray(type) ? type : [type]
  if (wanted.includes('string') || !wanted.some((name) => typeof name === 'string')) return text
  try {
    const value: unknown = JSON.parse(text)
    const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
    const fits = wanted.includes(kind) || (kind === 'number' && wanted.includes('integer'))
    return fits ? value : text
  } catch {
    return text
  }
}

function malformed(source: string, bytes: TokenRange, reason: string): MalformedCall {
  return { text: decode(source.slice(bytes.start, bytes.end)), reason, bytes }
}

function decode(source: string): string {
  return Buffer.from(source, 'latin1').toString('utf8')
}

/** JSON's white space only: others are no single bytes in UTF-8. */
function skipSpace(source: string, start: number): number {
  let place = start
  while (' \t\r\n'.includes(source[place] ?? 'x')) place++
  return place
}
