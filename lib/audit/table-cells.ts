import type { Audit } from './audit.js'
import { absent, pointsText, shareText, signed } from './findings.js'
import type { Measures } from './measures.js'

/** The figures by length as texts: titles with units, then a row a bin and one over all. */
export const tableTitles = [
  'Length (tokens)',
  'Trajectories',
  'With a read',
  'Call share (%)',
  'Name share (%)',
  'Oracle readers',
  'Negative (%)',
  'Mixed groups',
  'Advantage gap',
  'SD',
  'Value (points)',
  '95% interval',
  'Tasks',
] as const

export function tableRows({ bins, overall }: Audit): string[][] {
  return [...bins.map((bin) => cells(bin.label, bin)), cells('all', overall)]
}

function cells(label: string, m: Measures): string[] {
  const { mean, low, high, tasks } = m.value
  return [
    label,
    ...[m.trajectories, m.withRead].map(String),
    ...[m.callShareMedian, m.identityShareMedian].map(shareText),
    String(m.oracleReaders),
    shareText(m.oracleNegativeRate),
    String(m.mixedGroups),
    signed(m.advantageGapMean),
    m.advantageGapSd === null ? absent : m.advantageGapSd.toFixed(2),
    pointsText(mean),
    low === null ? absent : `${pointsText(low)} to ${pointsText(high)}`,
    String(tasks),
  ]
}
