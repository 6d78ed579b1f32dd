export interface Column {
  title: string
  /** Default: left for the first column, right for the rest. */
  align?: 'left' | 'right'
}

/** Columns a text takes in a terminal: wide characters take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text.normalize('NFC')) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue
    width +=
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u.test(
        character,
      )
        ? 2
        : 1
  }
  return width
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return align === 'left' ? text + space : space + text
}

/** A plain text table: titles, a rule, rows. Missing cells are empty. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => columns.map((_, i) => (row[i] ?? '').replace(/\s+/g, ' ')))
  const widths = columns.map(({ title }, i) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[i]!))),
  )
  const align = (i: number) => columns[i]!.align ?? (i === 0 ? 'left' : 'right')
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => pad(cell, widths[i]!, align(i)))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(columns.map(({ title }) => title)), rule, ...cells.map(line)].join('\n')
}
