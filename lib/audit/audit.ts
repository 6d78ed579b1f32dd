import { SkillgateError } from '../errors.js'
import type { FormatName } from './formats/detect.js'
import { scoreGroups } from './groups.js'
import { inBin, type LengthBin, lengthBins } from './length-bins.js'
import { type Measures, measure, mixedGroups } from './measures.js'
import type { Observation } from './observation.js'
import { type AuditOptionsIn, checkAuditOptions } from './options.js'
import { type ReadSource, readSource } from './read-source.js'

/** Where the credit of an outcome-reward run goes. Plain data: `JSON.stringify` writes it whole. */
export interface Audit {
  source: string
  formats: FormatName[]
  /** Settings the figures depend on. */
  settings: { bins: number[]; successAbove: number; includeDropped: boolean; resamples: number; seed: number }
  counts: AuditCounts
  overall: Measures
  /** By sampled tokens of a trajectory; of a group, by its median. */
  bins: (LengthBin & Measures)[]
  /** What a reader must know before trusting the figures, in sentences. */
  notes: string[]
}

/** Trajectories, but where a name says otherwise. */
export interface AuditCounts {
  read: number
  steps: number
  /** Groups and tasks that were measured. */
  groups: number
  tasks: number
  measured: number
  /** Without a reward. */
  failed: number
  /** Without a sampled token. */
  empty: number
  /** In groups left out of the trainer's update, and so of the figures. */
  dropped: number
  /** Measured, of tasks that name no oracle. */
  unlabelled: number
}

/**
 * Measures Share, Sign and Value of trajectories: how small a part of the loss the choice of a skill is, how often the right
 * choice is blamed, and what it is worth. `source` is a run's folder, a folder of JSONL files, or one such file.
 * @throws ERR_CONFIG for wrong options, ERR_AUDIT for a source that cannot be read, with every bad line
 */
export async function audit(source: string, options: AuditOptionsIn = {}): Promise<Audit> {
  const checked = checkAuditOptions(options)
  const found = await readSource(source, checked)
  const taking = checked.includeDropped ? found.observations : found.observations.filter((o) => !o.dropped)
  const groups = scoreGroups(taking).filter((members) => members.length > 0)
  const trajectories = groups.flat()
  if (trajectories.length === 0) {
    const message = `expected a trajectory with a reward and a sampled token in ${source}, got none in ${found.observations.length}`
    throw new SkillgateError('ERR_AUDIT', message)
  }
  const mixed = mixedGroups(groups, checked.successAbove)
  const measureIn = (bin: LengthBin): LengthBin & Measures => ({
    ...bin,
    ...measure(
      trajectories.filter((t) => inBin(t.generated, bin)),
      mixed.filter((group) => inBin(group.length, bin)),
      checked,
    ),
  })
  const { bins, successAbove, includeDropped, resamples, seed } = checked
  const counts = countAll(found.observations, taking, trajectories, groups.length)
  return {
    source,
    formats: found.formats,
    settings: { bins, successAbove, includeDropped, resamples, seed },
    counts,
    overall: measure(trajectories, mixed, checked),
    bins: lengthBins(bins).map(measureIn),
    notes: notesOn(found, counts),
  }
}

function countAll(
  all: readonly Observation[],
  taking: readonly Observation[],
  measured: readonly Observation[],
  groups: number,
): AuditCounts {
  const distinct = (of: (o: Observation) => unknown) => new Set(measured.map(of)).size
  const failed = taking.filter((o) => o.reward === null).length
  return {
    read: all.length,
    steps: distinct((o) => o.step),
    groups,
    tasks: distinct((o) => o.task),
    measured: measured.length,
    failed,
    empty: taking.length - failed - measured.length,
    dropped: all.length - taking.length,
    unlabelled: measured.filter((o) => !o.labelled).length,
  }
}

function notesOn({ withoutSlate, observations }: ReadSource, counts: AuditCounts): string[] {
  const notes: string[] = []
  const add = (count: number, text: string) => {
    if (count > 0) notes.push(`${count} of ${observations.length} trajectories ${text}`)
  }
  add(counts.failed, 'have no reward and are left out')
  add(counts.empty, 'have no sampled token and are left out')
  add(counts.dropped, 'are in groups the trainer dropped from its update and are left out')
  add(withoutSlate, 'are of tasks without a slate: the category of their reads is unknown')
  if (withoutSlate === 0)
    add(counts.unlabelled, 'are of tasks without an oracle label: they count in Share only')
  return notes
}
