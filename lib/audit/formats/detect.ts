import type { AuditOptions } from '../options.js'
import { readDumpLine } from './dump-line.js'
import type { LineFormat } from './line-format.js'
import { readRecordLine } from './record-line.js'
import { readTrajectoryLine } from './trajectory-line.js'

export type FormatName = Exclude<AuditOptions['format'], 'auto'>

export const lineFormats: Record<FormatName, LineFormat> = {
  trajectories: readTrajectoryLine,
  records: readRecordLine,
  dump: readDumpLine,
}

/** The format of a file, by one of its lines. */
export function formatOf(value: unknown): FormatName {
  const has = (...keys: string[]) =>
    typeof value === 'object' && value !== null && keys.every((key) => Object.hasOwn(value, key))
  if (has('format', 'sequences')) return 'trajectories'
  return has('group_index') ? 'dump' : 'records'
}
