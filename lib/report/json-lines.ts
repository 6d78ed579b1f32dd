import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** JSON has no NaN and no Infinity: they are written as the texts "NaN", "Infinity" and "-Infinity". */
export function jsonLine(record: object): string {
  return JSON.stringify(record, (_, value) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  )
}

/** Appends records to a file, one JSON object a line, each line in one write. */
export class JsonLines {
  readonly #file: number

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true })
    this.#file = openSync(path, 'a')
  }

  write(record: object): void {
    writeSync(this.#file, `${jsonLine(record)}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** The records of a file, oldest first; lines that a killed process left half written are passed over. */
export function readJsonLines(path: string): Record<string, unknown>[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const value = JSON.parse(line)
      return typeof value === 'object' && value !== null ? [value] : []
    } catch {
      return []
    }
  })
}

/** Leaves only the records that `keep` holds for, in a file that is replaced whole. */
export function filterJsonLines(path: string, keep: (record: Record<string, unknown>) => boolean): void {
  const kept = readJsonLines(path).filter(keep)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, kept.map((record) => `${JSON.stringify(record)}\n`).join(''))
  renameSync(`${path}.new`, path)
}
