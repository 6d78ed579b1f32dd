import { table } from '../report/table.js'
import type { Audit } from './audit.js'
import { findings, scope } from './findings.js'
import { tableRows, tableTitles } from './table-cells.js'

/** The audit as plain text: what was measured, the three findings, the table by length, and what to know of it. */
export function formatAudit(audit: Audit): string {
  const { share, sign, value } = findings(audit)
  const rows = table(
    tableTitles.map((title) => ({ title })),
    tableRows(audit),
  )
  const notes = audit.notes.map((note) => `Note: ${note}.`)
  return [
    `Audit of ${audit.source}: ${scope(audit)}`,
    '',
    `Share  ${share}`,
    `Sign   ${sign}`,
    `Value  ${value}`,
    '',
    rows,
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
  ].join('\n')
}
