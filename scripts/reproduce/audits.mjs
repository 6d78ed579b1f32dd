/** Where the credit went in a setting's runs: the audit of each, kept beside it. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../../dist/lib/audit/audit.js'
import { diskFiles, writeWhole } from '../../dist/lib/checkpoint/files.js'
import { readRunRecord } from '../../dist/lib/compare/run-record.js'

/** Measures of one finished run's training; made once. */
async function auditOf(folder) {
  const file = join(folder, 'audit.json')
  const record = join(folder, 'result.json')
  if (existsSync(file) && statSync(file).mtimeMs >= statSync(record).mtimeMs)
    return JSON.parse(readFileSync(file, 'utf8'))
  const { overall } = await audit(folder, {
    format: 'trajectories',
    bins: [50, 100, 200, 400],
    resamples: 1000,
  })
  await writeWhole(diskFiles, folder, 'audit.json', JSON.stringify(overall))
  return overall
}

const mean = (values) => {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

/** Means over the finished runs of these folders; undefined where none is. */
export async function auditOfRuns(folders) {
  const found = []
  for (const folder of folders.filter(readRunRecord)) found.push(await auditOf(folder))
  if (found.length === 0) return undefined
  const over = (of) => mean(found.map(of))
  return {
    runs: found.length,
    tokens: over((one) => one.generatedMedian),
    callShare: over((one) => one.callShareMedian),
    identityShare: over((one) => one.identityShareMedian),
    blamed: over((one) => one.oracleNegativeRate),
    gap: over((one) => one.advantageGapMean),
    value: over((one) => one.value.mean),
  }
}
