import { type Group, type SkillRead, survivors } from '../rollout/trajectory.js'
import { selectorAdvantage } from './advantages.js'

/** What a method has gathered over the steps of a run, in rows of a name and figures: plain JSON, kept in checkpoints. */
export type CreditMemory = readonly (readonly [name: string, ...figures: number[]])[]

/**
 * How rewards and reads become advantages. A method never sees tokens: masks, weights and the loss follow from what it
 * returns. Groups are as collected; entries of both results stand for the group's survivors, in order.
 */
export interface CreditMethod {
  readonly name: string
  /** Which read calls have no share in the outcome (the execution channel): all, only the first of a trajectory, or none. */
  readonly readCalls: 'excluded' | 'first excluded' | 'included'
  /** `needed`: in a group without oracle labels read calls are tokens like any others. `unused`: no label is ever looked at. */
  readonly labels: 'needed' | 'unused'
  /** `hidden`: training episodes have no slate in their prompt. Default: they have. */
  readonly slate?: 'hidden'
  /** One advantage a surviving trajectory. */
  outcome(group: Group): Float64Array
  /** One advantage a read of a surviving trajectory; 0 leaves the read without selection credit. */
  actions(group: Group, memory?: CreditMemory): Float64Array[]
  /** The memory after a step that trained on `groups`; absent: the method has none. It never changes `memory` itself. */
  learn?(memory: CreditMemory | undefined, groups: readonly Group[]): CreditMemory
}

/** Whether a read is in the call that reads first; one call can read several skills. */
export function inFirstCall(read: SkillRead, reads: readonly SkillRead[]): boolean {
  const { sequence, call } = reads[0]!
  return read.sequence === sequence && read.call.start === call.start
}

/** No read has selection credit. */
export function noSelection(group: Group): Float64Array[] {
  return survivors(group).map((t) => new Float64Array(t.reads.length))
}

/** Selector advantages of a utility rule; a group without oracle labels has none. */
export function selectionBy(utility: (reads: readonly SkillRead[]) => number[]) {
  return (group: Group): Float64Array[] =>
    isLabelled(group) ? selectorAdvantage(survivors(group).map((t) => utility(t.reads))) : noSelection(group)
}

/** False: the task names no oracle. */
export function isLabelled(group: Group): boolean {
  return group.trajectories.every((t) => t.labelled)
}
