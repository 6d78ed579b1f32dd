import { SkillgateError } from '../errors.js'
import type { DispatchedCall, SkillRead, SlateEntry, TokenRange, Trajectory } from '../rollout/trajectory.js'
import type { ReadCategory } from '../skills/skill.js'
import { folderKey, isSkillFile, pathSegments, skillFolder } from '../skills/skill-path.js'
import { callArguments } from './call-arguments.js'
import { type MappedText, mapBytes } from './mapped-text.js'
import {
  knownPathsInCommand,
  nameInPath,
  needsKnowing,
  type PathMention,
  pathsInCommand,
} from './skill-mentions.js'
import { tokenOffsets, tokensTouching } from './token-span.js'

/** An assistant turn: its sampled ids, the one that ended it included, and the bytes of each. */
export interface TurnTokens {
  tokens: Int32Array
  tokenBytes: readonly Uint8Array[]
}

export interface ReadOptions {
  /**
   * Which skill a path reads, or undefined for none. Decides for every path outside the slate. Without it a path reads the skill
   * `<name>` where it is `<name>/SKILL.md` or `<name>/README.md` in a folder `skills`, or in one that holds a skill of the slate.
   */
  isSkill?: (path: string) => string | undefined
  /** Ids that may end a turn. Default: a last token that looks like `<...>`. */
  endOfTurn?: readonly number[]
  /** Tools whose argument is a path to read. Default `read`. */
  readTools?: readonly string[]
  /** Tools that run a command. Default `exec`. */
  execTools?: readonly string[]
}

export interface FindReadsOptions extends ReadOptions {
  /** The calls that were dispatched, in order; byte ranges within the turn, tags included. */
  calls: readonly { tool: string; bytes: TokenRange }[]
  slate: readonly SlateEntry[]
}

/** A read within one turn; the ranges count its tokens. */
export interface TurnRead {
  skill: string
  category: ReadCategory
  /** The tool's name without its namespace. */
  tool: string
  /** Every token of the call, its tags included, and the end of the turn where the call is the last thing in it. */
  call: TokenRange
  /** The tokens that overlap the skill's name in the path. */
  identity: TokenRange
  /** Index into `calls`. */
  callIndex: number
}

const readingWord =
  /(?<![\p{L}\p{N}_])(?:cat|sed|awk|grep|head|tail|less|more|python3?|perl|ruby|node)(?![\p{L}\p{N}_])/iu

/**
 * The read actions of a turn, in order: one for each skill path in a call of `read`, or of `exec` whose arguments contain a word
 * that reads. Places follow from the tokens' bytes, so split characters and escapes in JSON are exact.
 */
export function findSkillReads(turn: TurnTokens, options: FindReadsOptions): TurnRead[] {
  const { readTools = ['read'], execTools = ['exec'] } = options
  const offsets = tokenOffsets(turn.tokenBytes)
  const bytes = Buffer.concat(turn.tokenBytes)
  const skillAt = skillResolver(options)
  const known = options.slate.map((entry) => entry.location).filter(needsKnowing)

  return options.calls.flatMap((call, callIndex) => {
    const tool = call.tool.trim().toLowerCase().split('.').at(-1)!
    const isRead = readTools.includes(tool)
    if (!isRead && !execTools.includes(tool)) return []
    const { start, end } = call.bytes
    if (!(start >= 0 && start <= end && end <= bytes.length)) {
      const expected = `expected the bytes of a call within the ${bytes.length} of its turn`
      throw new SkillgateError('ERR_READS', `${expected}, got ${start} to ${end}`)
    }
    const { keys, values } = callArguments(mapBytes(bytes.subarray(start, end), start))
    const texts = [...keys, ...values.map((value) => value.text)]
    if (!isRead && !texts.some((text) => readingWord.test(text))) return []
    const span = callSpan(turn, offsets, bytes, call.bytes, options.endOfTurn)
    return values.flatMap((value) =>
      (isRead ? wholePath(value) : commandPaths(value.text, known)).flatMap((mention) => {
        const skill = skillAt(mention.path)
        const identity = nameBytes(value, mention)
        if (skill === undefined || identity === undefined) return []
        return [{ ...skill, tool, call: span, identity: tokensTouching(offsets, identity), callIndex }]
      }),
    )
  })
}

/** The reads of all dispatched calls of a trajectory, in order; ranges within the call's sequence. */
export function readsOfTrajectory(
  trajectory: Pick<Trajectory, 'sequences' | 'calls' | 'slate'>,
  tokenBytesOf: (id: number) => Uint8Array,
  options: ReadOptions = {},
): SkillRead[] {
  const reads: SkillRead[] = []
  for (const { sequence, turn, calls } of callsByTurn(trajectory.calls)) {
    const range = trajectory.sequences[sequence]?.turns[turn]
    if (range === undefined) {
      const message = `expected calls of a turn of the trajectory, got turn ${turn} of sequence ${sequence}`
      throw new SkillgateError('ERR_READS', message)
    }
    const tokens = trajectory.sequences[sequence]!.tokens.slice(range.start, range.end)
    const tokenBytes = Array.from(tokens, tokenBytesOf)
    const found = findSkillReads({ tokens, tokenBytes }, { ...options, calls, slate: trajectory.slate })
    for (const { skill, category, tool, call, identity } of found) {
      const shifted = [call, identity].map(({ start, end }) => ({
        start: start + range.start,
        end: end + range.start,
      }))
      reads.push({ skill, category, tool, sequence, turn, call: shifted[0]!, identity: shifted[1]! })
    }
  }
  return reads
}

/** Calls of one turn together; turns and calls stay in order. */
function callsByTurn(calls: readonly DispatchedCall[]) {
  const turns = new Map<string, { sequence: number; turn: number; calls: DispatchedCall[] }>()
  for (const call of calls) {
    const key = `${call.sequence}/${call.turn}`
    const entry = turns.get(key) ?? { sequence: call.sequence, turn: call.turn, calls: [] }
    entry.calls.push(call)
    turns.set(key, entry)
  }
  return [...turns.values()]
}

/** Tells the skill and its category from a path. */
function skillResolver({ slate, isSkill }: FindReadsOptions) {
  const byFolder = new Map(slate.map((entry) => [skillFolder(entry.location), entry]))
  const byName = new Map(slate.map((entry) => [entry.name, entry]))
  const roots = new Set(slate.map((entry) => folderKey(pathSegments(entry.location).slice(0, -1))))
  roots.delete('')
  return (path: string): { skill: string; category: ReadCategory } | undefined => {
    const folder = skillFolder(path)
    if (folder === undefined) return undefined
    const shown = byFolder.get(folder)
    const name = shown?.name ?? (isSkill ? isSkill(path) : nameByPlace(path, roots))
    if (name === undefined) return undefined
    return { skill: name, category: byName.get(name)?.category ?? 'unadvertised' }
  }
}

function nameByPlace(path: string, roots: ReadonlySet<string>): string | undefined {
  const segments = pathSegments(path.trim())
  const inRoot = segments.at(-3)?.name === 'skills' || roots.has(folderKey(segments.slice(0, -1)))
  return inRoot ? segments.at(-2)?.name : undefined
}

function wholePath({ text }: MappedText): PathMention[] {
  const path = text.trim()
  const isPath = isSkillFile(pathSegments(path).at(-1)?.name)
  return isPath ? [{ path, start: text.length - text.trimStart().length }] : []
}

function commandPaths(text: string, known: readonly string[]): PathMention[] {
  const mentions = [...pathsInCommand(text), ...knownPathsInCommand(text, known)]
  return mentions.sort((a, b) => a.start - b.start)
}

function nameBytes({ at }: MappedText, mention: PathMention): TokenRange | undefined {
  const name = nameInPath(mention.path)
  if (name === undefined) return undefined
  return { start: at[mention.start + name.start]!, end: at[mention.start + name.end]! }
}

function callSpan(
  turn: TurnTokens,
  offsets: Int32Array,
  bytes: Uint8Array,
  call: TokenRange,
  endOfTurn: readonly number[] | undefined,
): TokenRange {
  const span = tokensTouching(offsets, call)
  let last = turn.tokens.length
  while (last > span.end && isEnd(turn.tokens[last - 1]!, turn.tokenBytes[last - 1]!, endOfTurn)) last--
  const isLast = last < turn.tokens.length && isBlank(bytes.subarray(call.end, offsets[last]))
  return isLast ? { start: span.start, end: turn.tokens.length } : span
}

function isEnd(id: number, bytes: Uint8Array, endOfTurn: readonly number[] | undefined): boolean {
  if (endOfTurn !== undefined) return endOfTurn.includes(id)
  return bytes.length > 2 && bytes[0] === 0x3c && bytes.at(-1) === 0x3e
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))
}
