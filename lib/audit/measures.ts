import { meanOverTasks, type TaskMean } from './bootstrap.js'
import type { Scored } from './observation.js'
import { mean, median, standardDeviation } from './statistics.js'

/** Share, Sign and Value of some trajectories; null = no such value. Shares and rates are fractions. */
export interface Measures {
  trajectories: number
  /** Trajectories with at least one read; the shares are over these. */
  withRead: number
  /** Tokens of read calls / sampled tokens. */
  callShareMedian: number | null
  callShareMean: number | null
  /** Tokens that name a skill in a read call / sampled tokens. */
  identityShareMedian: number | null
  /** Sampled tokens of a trajectory. */
  generatedMedian: number | null
  /** Sampled tokens / all tokens after the first prompt, where these are known. */
  generatedOverResponseMean: number | null
  /** Trajectories that read the oracle. */
  oracleReaders: number
  /** Fraction of these with a negative outcome advantage. */
  oracleNegativeRate: number | null
  /** Groups with trajectories that read the oracle and others that did not. A group's length is its median. */
  mixedGroups: number
  /** Over mixed groups: mean advantage of those that read the oracle - mean of the rest. */
  advantageGapMean: number | null
  advantageGapSd: number | null
  /** Mean / SD. */
  advantageGapSnr: number | null
  /** In mixed groups: success of those that read the oracle - success of the rest, a mean a task. */
  value: TaskMean
}

/** What a mixed group says of reading the oracle. */
export interface MixedGroup {
  task: string
  /** Median of its trajectories' sampled tokens. */
  length: number
  advantageGap: number
  successGap: number
}

export function mixedGroups(groups: readonly Scored[][], successAbove: number): MixedGroup[] {
  return groups.flatMap((members) => {
    const readers = members.filter(readOracle)
    const rest = members.filter((member) => !readOracle(member))
    if (readers.length === 0 || rest.length === 0) return []
    const gap = (of: (member: Scored) => number) => mean(readers.map(of))! - mean(rest.map(of))!
    return {
      task: members[0]!.task,
      length: median(members.map((member) => member.generated))!,
      advantageGap: gap((member) => member.advantage),
      successGap: gap((member) => (member.reward > successAbove ? 1 : 0)),
    }
  })
}

export function measure(
  trajectories: readonly Scored[],
  mixed: readonly MixedGroup[],
  bootstrap: { resamples: number; seed: number },
): Measures {
  const withRead = trajectories.filter((t) => t.reads.length > 0)
  const readers = trajectories.filter(readOracle)
  const callShares = withRead.map((t) => t.call / t.generated)
  const gaps = mixed.map((group) => group.advantageGap)
  const [gap, sd] = [mean(gaps), standardDeviation(gaps)]
  const known = trajectories.filter((t) => t.response !== null)
  return {
    trajectories: trajectories.length,
    withRead: withRead.length,
    callShareMedian: median(callShares),
    callShareMean: mean(callShares),
    identityShareMedian: median(withRead.map((t) => t.identity / t.generated)),
    generatedMedian: median(trajectories.map((t) => t.generated)),
    generatedOverResponseMean: mean(known.map((t) => t.generated / t.response!)),
    oracleReaders: readers.length,
    oracleNegativeRate: mean(readers.map((t) => (t.advantage < 0 ? 1 : 0))),
    mixedGroups: mixed.length,
    advantageGapMean: gap,
    advantageGapSd: sd,
    advantageGapSnr: gap !== null && sd !== null && sd > 0 ? gap / sd : null,
    value: meanOverTasks(
      mixed.map(({ task, successGap }) => ({ task, value: successGap })),
      bootstrap,
    ),
  }
}

const readOracle = (t: Scored) => t.reads.includes('oracle')
