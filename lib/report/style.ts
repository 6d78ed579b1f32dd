import type { ProgressStream } from './progress.js'

/** Emphasis for terminals; each function gives its text back as it is where colours are not wanted. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  green(text: string): string
  red(text: string): string
  yellow(text: string): string
}

/**
 * Styles for a stream: plain where it is no terminal or where `noColor` is set (the NO_COLOR convention: any text but the empty one).
 */
export function styleFor(stream: ProgressStream, noColor: string | undefined): Style {
  const wanted = stream.isTTY === true && (noColor === undefined || noColor === '')
  const mark = (on: number, off: number) => (text: string) =>
    wanted ? `\x1b[${on}m${text}\x1b[${off}m` : text
  return { bold: mark(1, 22), dim: mark(2, 22), green: mark(32, 39), red: mark(31, 39), yellow: mark(33, 39) }
}

/** No emphasis at all. */
export const plainStyle: Style = styleFor({ write: () => true }, undefined)
