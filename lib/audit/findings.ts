import type { Audit } from './audit.js'

/** A missing figure in texts and tables. */
export const absent = '-'

/** A fraction in percent, two significant digits below 10%. */
export function shareText(fraction: number | null): string {
  if (fraction === null) return absent
  const percent = 100 * fraction
  if (percent === 0 || percent >= 9.95) return percent.toFixed(1)
  return percent.toPrecision(2)
}

/** A difference of fractions in percentage points, e.g. `+40.7`. */
export function pointsText(difference: number | null): string {
  return difference === null ? absent : signed(100 * difference, 1)
}

/** A number with its sign; what rounds to zero has none. */
export function signed(value: number | null, digits = 2): string {
  if (value === null) return absent
  const text = Math.abs(value).toFixed(digits)
  return Number(text) === 0 ? text : `${value < 0 ? '\u2212' : '+'}${text}`
}

/** What the audit found, a sentence or two for each of its three questions. */
export interface Findings {
  share: string
  sign: string
  value: string
}

export function findings({ overall }: Audit): Findings {
  const { withRead, oracleReaders, mixedGroups, value } = overall
  const share =
    withRead === 0
      ? 'No trajectory read a skill.'
      : `Of the tokens sampled in a trajectory that read a skill, a median ${shareText(overall.callShareMedian)}% are in ` +
        `read calls and ${shareText(overall.identityShareMedian)}% name the skill (${many(withRead, 'trajectory')}).`
  const blamed =
    oracleReaders === 0
      ? 'No trajectory read a right skill.'
      : `${shareText(overall.oracleNegativeRate)}% of the ${many(oracleReaders, 'trajectory')} that read a right skill ` +
        'have a negative advantage.'
  const gap =
    mixedGroups === 0
      ? ''
      : ` In ${many(mixedGroups, 'group')} where some read it and others did not, the mean advantage of those that did ` +
        `differs by ${signed(overall.advantageGapMean)}${sdText(overall.advantageGapSd)}.`
  const worth =
    mixedGroups === 0
      ? 'In no group did some trajectories read a right skill and others not, so that its worth cannot be told.'
      : `Where some of a group read a right skill and others did not, success differs by ${pointsText(value.mean)} ` +
        `percentage points (${intervalText(value)}, ${many(value.tasks, 'task')}).`
  return { share, sign: blamed + gap, value: worth }
}

const sdText = (sd: number | null) => (sd === null ? '' : ` (SD ${sd.toFixed(2)} over groups)`)

const intervalText = ({ low, high }: { low: number | null; high: number | null }) =>
  low === null ? 'no interval from one task' : `95% interval ${pointsText(low)} to ${pointsText(high)}`

function many(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${count} ${count === 1 ? noun : plural}`
}

/** One line on how much was measured. */
export function scope({ counts }: Audit): string {
  const parts = [many(counts.groups, 'group'), many(counts.tasks, 'task'), many(counts.steps, 'step')]
  return `${many(counts.measured, 'trajectory')} in ${parts[0]} of ${parts[1]}, ${parts[2]}`
}
