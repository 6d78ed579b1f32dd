import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { diskFiles, writeWhole } from '../checkpoint/files.js'
import { readJsonLines } from '../report/json-lines.js'
import { figureNames, readCategories } from './trial-figures.js'

const fileName = 'result.json'

const taskSums = z.record(z.string(), z.object({ sum: z.number(), count: z.number() }))

const schema = z.object({
  /** Of all that the run's result follows from. */
  fingerprint: z.string(),
  method: z.string(),
  seed: z.int().min(0),
  steps: z.int().min(0),
  trials: z.int(),
  failed: z.int(),
  sums: z.record(z.enum(figureNames), taskSums),
  reads: z.record(z.enum(readCategories), z.number()),
  seconds: z.object({ training: z.number(), evaluation: z.number() }),
  threads: z.int(),
  finishedAt: z.string(),
})

/** What a finished run came to. It is written last, so that a run with a record is whole. */
export type RunRecord = z.output<typeof schema>

/** The record of a run's folder; undefined where the run is not finished. */
export function readRunRecord(folder: string): RunRecord | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(join(folder, fileName), 'utf8')))
  } catch {
    return undefined
  }
}

export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  await writeWhole(diskFiles, folder, fileName, `${JSON.stringify(record)}\n`)
}

/** One step of a run, of those figures that curves show. */
export interface CurveStep {
  step: number
  reward?: number
  oracleRead?: number
  misleadingRead?: number
}

/** The steps of a run from its metrics, oldest first, and the seconds they took. */
export function readCurve(folder: string): { steps: CurveStep[]; seconds: number } {
  const lines = readJsonLines(join(folder, 'metrics.jsonl')).filter(({ type }) => type === 'step')
  const figure = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
  return {
    steps: lines.map((line) => ({
      step: line.step as number,
      reward: figure(line.reward),
      oracleRead: figure(line.oracleRead),
      misleadingRead: figure(line.misleadingRead),
    })),
    seconds: lines.reduce(
      (sum, line) => sum + (figure(line.rolloutSeconds) ?? 0) + (figure(line.updateSeconds) ?? 0),
      0,
    ),
  }
}
