/** Wide enough for the fonts the figures ask for: a fraction of the font's size for a character of each kind. */
function characterWidth(character: string): number {
  if (
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u.test(
      character,
    )
  )
    return 1.05
  if (/[ ijl.,:;|'!()[\]]/.test(character)) return 0.36
  if (/[mwMW%@]/.test(character)) return 0.95
  return /[A-Z<>=+~\u2212\u2013]/.test(character) ? 0.72 : 0.62
}

/** The width of a line of text, at most, in units of the figure. */
export function textWidth(text: string, fontSize: number): number {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width * fontSize
}

/** Breaks a text at spaces into lines that fit a width; a longer word has a line of its own. */
export function wrapText(text: string, fontSize: number, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`
    if (lines.length > 0 && textWidth(longer, fontSize) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.filter((line) => line !== '')
}
