import { isMappedText, readMappedJson, stringsOf } from './mapped-json.js'
import { type MappedText, sliceMapped, trimMapped } from './mapped-text.js'

export interface CallArguments {
  /** Names of the arguments. */
  keys: string[]
  /** Every text in the arguments, with its place in the bytes. */
  values: MappedText[]
}

/**
 * The arguments of a call as they were written: the strings of a JSON call with escapes undone, or the parameters of an XML
 * call, trimmed. A call in no known form is one text.
 */
export function callArguments(call: MappedText): CallArguments {
  const body = /^\s*<tool_call>\s*/.exec(call.text)?.[0].length ?? 0
  if (call.text[body] === '{') return jsonArguments(sliceMapped(call, body, call.text.length))
  const parameters = [...call.text.matchAll(/<parameter=([^<>\n]*)>(.*?)<\/parameter>/gs)]
  if (parameters.length === 0) return { keys: [], values: [call] }
  const values = parameters.map((match) => {
    const end = match.index + match[0].length - '</parameter>'.length
    return trimMapped(sliceMapped(call, end - match[2]!.length, end))
  })
  return { keys: parameters.map((match) => match[1]!.trim()), values }
}

/** Arguments may be an object, or a string that holds one. */
function jsonArguments(source: MappedText): CallArguments {
  const call = readMappedJson(source)
  const given = call instanceof Map ? call.get('arguments') : undefined
  const object = isMappedText(given) ? readMappedJson(given) : given
  return { keys: object instanceof Map ? [...object.keys()] : [], values: stringsOf(object) }
}
