/** Byte-level byte pair encoding: learns the vocabulary and merges of a tokenizer.json from texts. */

/** The printable character that stands for each byte, as GPT-2 has it. */
export function byteCharacters() {
  const characters = []
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    characters.push(String.fromCodePoint(printable ? byte : next++))
  }
  return characters
}

/** Counts the pieces that the pattern cuts the texts into, each as a list of one character a byte. */
function countPieces(texts, pattern) {
  const characters = byteCharacters()
  const counts = new Map()
  for (const [text, weight] of texts) {
    for (const [piece] of text.matchAll(pattern)) counts.set(piece, (counts.get(piece) ?? 0) + weight)
  }
  return [...counts].map(([piece, count]) => ({
    symbols: Array.from(Buffer.from(piece, 'utf8'), (byte) => characters[byte]),
    count,
  }))
}

function countPairs(pieces) {
  const pairs = new Map()
  for (const { symbols, count } of pieces) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = `${symbols[i]} ${symbols[i + 1]}`
      pairs.set(pair, (pairs.get(pair) ?? 0) + count)
    }
  }
  return pairs
}

function mergePair(symbols, left, right) {
  const merged = []
  for (let i = 0; i < symbols.length; i++) {
    const both = symbols[i] === left && symbols[i + 1] === right
    merged.push(both ? left + right : symbols[i])
    if (both) i++
  }
  return merged
}

/**
 * Tokens (the 256 bytes first) and merges, until there are `size` tokens or no pair occurs twice.
 * @param {Iterable<[text: string, weight: number]>} texts
 * @param {RegExp} pattern cuts a text into pieces; no token goes over the edge of one. Global.
 * @param {number} size
 */
export function learnMerges(texts, pattern, size) {
  const pieces = countPieces(texts, pattern)
  const tokens = byteCharacters()
  const merges = []
  while (tokens.length < size) {
    let best
    let most = 1
    for (const [pair, count] of countPairs(pieces)) {
      if (count > most || (count === most && best !== undefined && pair < best)) {
        best = pair
        most = count
      }
    }
    if (best === undefined) break
    const [left, right] = best.split(' ')
    merges.push([left, right])
    tokens.push(left + right)
    for (const piece of pieces) piece.symbols = mergePair(piece.symbols, left, right)
  }
  return { tokens, merges }
}
