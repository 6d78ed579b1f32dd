import { type MappedText, sliceMapped, unescapeMapped } from './mapped-text.js'

/** A JSON value whose strings know their places; numbers, booleans and null are undefined. */
export type MappedJson = MappedText | MappedJson[] | Map<string, MappedJson> | undefined

const deepest = 100

/** Reads the JSON value that begins at the first character. Of a key given twice the last counts, as in `JSON.parse`. */
export function readMappedJson(source: MappedText): MappedJson {
  return readValue(source, skip(source.text, 0), 0).value
}

export function isMappedText(value: MappedJson): value is MappedText {
  return value !== undefined && !Array.isArray(value) && !(value instanceof Map)
}

/** The strings inside, in order. */
export function stringsOf(value: MappedJson): MappedText[] {
  if (value === undefined) return []
  if (value instanceof Map) return [...value.values()].flatMap(stringsOf)
  return Array.isArray(value) ? value.flatMap(stringsOf) : [value]
}

function readValue(source: MappedText, start: number, depth: number): { value: MappedJson; end: number } {
  const { text } = source
  if (text[start] === '"') return readString(source, start)
  if (text[start] === '{' && depth < deepest) {
    const members = new Map<string, MappedJson>()
    let place = skip(text, start + 1)
    while (text[place] === '"') {
      const key = readString(source, place)
      const member = readValue(source, skip(text, skip(text, key.end) + 1), depth + 1)
      members.delete(key.value.text)
      members.set(key.value.text, member.value)
      place = afterItem(text, member.end)
    }
    return { value: members, end: place + 1 }
  }
  if (text[start] === '[' && depth < deepest) {
    const items: MappedJson[] = []
    let place = skip(text, start + 1)
    while (place < text.length && text[place] !== ']') {
      const item = readValue(source, place, depth + 1)
      items.push(item.value)
      place = afterItem(text, Math.max(item.end, place + 1))
    }
    return { value: items, end: place + 1 }
  }
  let end = start
  while (end < text.length && !',]}'.includes(text[end]!)) end++
  return { value: undefined, end }
}

function readString(source: MappedText, start: number): { value: MappedText; end: number } {
  const { text } = source
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  end = Math.min(end, text.length)
  return { value: unescapeMapped(sliceMapped(source, start + 1, end)), end: end + 1 }
}

function afterItem(text: string, end: number): number {
  const place = skip(text, end)
  return text[place] === ',' ? skip(text, place + 1) : place
}

function skip(text: string, start: number): number {
  let place = start
  while (' \t\r\n'.includes(text[place] ?? 'x')) place++
  return place
}
