import {
  CHANNEL_EXECUTION,
  CHANNEL_NONE,
  CHANNEL_SELECTION,
  type CreditedSequence,
} from '../credit/credit.js'
import { number } from '../report/format.js'
import type { Style } from '../report/style.js'
import { table } from '../report/table.js'
import type { Trajectory, TrajectorySequence } from '../rollout/trajectory.js'
import type { StoredGroup } from '../rollout/trajectory-file.js'

export interface ShowOptions {
  /** Ids to text. */
  textOf: (ids: Int32Array) => string
  style: Style
  /** Prompts and tool results in full length. */
  full: boolean
}

/** A run of tokens with the same credit. */
interface Span {
  start: number
  end: number
}

/** The trajectory as text: what was shown and read, then every turn with the credit of its tokens. */
export function trajectoryText(
  group: StoredGroup,
  trajectory: Trajectory,
  credited: readonly CreditedSequence[],
  options: ShowOptions,
): string {
  const parts = [headText(group, trajectory, options.style), slateText(trajectory)]
  if (trajectory.reads.length > 0) parts.push(readsText(trajectory))
  for (const [i, sequence] of trajectory.sequences.entries()) {
    const credit = credited.find((candidate) => candidate.sequence === i)
    if (trajectory.sequences.length > 1)
      parts.push(options.style.bold(`sequence ${i + 1} of ${trajectory.sequences.length}`))
    parts.push(sequenceText(sequence, credit, options))
  }
  return parts.join('\n\n')
}

function headText(group: StoredGroup, trajectory: Trajectory, style: Style): string {
  const { task, index, reward, failure, turns, truncated, policyVersion, seed } = trajectory
  const outcome = failure ? style.red(`failed, ${failure.code}: ${failure.message}`) : `reward ${reward}`
  const others = group.trajectories.map((other) => (other.reward === null ? 'failed' : number(other.reward)))
  return [
    style.bold(`step ${group.step}, group ${group.index}, rollout ${index}: task ${task}`),
    `${outcome}; ${turns} turns${truncated ? ', cut off by a token limit' : ''}; policy version ${policyVersion}, seed ${seed}`,
    `rewards of the group: ${others.join(', ')}${group.dropped ? ` (not trained on: ${group.dropped})` : ''}`,
  ].join('\n')
}

function slateText({ slate, reads, labelled }: Trajectory): string {
  if (slate.length === 0) return 'no skills were shown'
  const rows = slate.map(({ name, category, location }) => {
    const times = reads.filter((read) => read.skill === name).length
    return [name, category ?? 'no label', times > 0 ? `read ${times} x` : '', location]
  })
  const columns = ['skill', 'category', 'read', 'location'].map((title) => ({
    title,
    align: 'left' as const,
  }))
  return `${table(columns, rows)}${labelled ? '' : '\nthe task has no label'}`
}

function readsText({ reads }: Trajectory): string {
  const rows = reads.map(({ skill, category, tool, turn, call, identity }) => [
    skill,
    category,
    tool,
    String(turn + 1),
    `${call.start}-${call.end}`,
    `${identity.start}-${identity.end}`,
  ])
  const columns = ['read action', 'category', 'tool', 'turn', 'call tokens', 'name tokens'].map((title) => ({
    title,
    align: 'left' as const,
  }))
  return table(columns, rows)
}

function sequenceText(
  sequence: TrajectorySequence,
  credit: CreditedSequence | undefined,
  options: ShowOptions,
): string {
  const { tokens, generated } = sequence
  const same = (a: number, b: number) =>
    generated[a] === generated[b] &&
    (!credit ||
      generated[a] === 0 ||
      (['channel', 'advantage', 'weight'] as const).every((field) => credit[field][a] === credit[field][b]))
  const turnStarts = new Set(sequence.turns.map((turn) => turn.start))
  const lines: string[] = []
  let turn = 0
  for (const { start, end } of spansOf(tokens.length, same, turnStarts)) {
    const text = options.textOf(tokens.subarray(start, end))
    if (generated[start] === 0) {
      lines.push(options.style.dim(indented(options.full ? text : shortened(text))))
      continue
    }
    if (turnStarts.has(start)) lines.push(options.style.bold(`-- turn ${++turn}`))
    lines.push(`${spanLabel(start, end, credit, options.style)}\n${indented(text)}`)
  }
  return lines.join('\n')
}

function spansOf(
  length: number,
  same: (a: number, b: number) => boolean,
  breaks: ReadonlySet<number>,
): Span[] {
  const spans: Span[] = []
  for (let t = 0; t < length; t++) {
    const last = spans.at(-1)
    if (last && same(last.start, t) && !breaks.has(t)) last.end = t + 1
    else spans.push({ start: t, end: t + 1 })
  }
  return spans
}

function spanLabel(start: number, end: number, credit: CreditedSequence | undefined, style: Style): string {
  const tokens = `tokens ${start}-${end}`
  if (!credit) return `[sampled, no part in the update; ${tokens}]`
  const channel = credit.channel[start]
  if (channel === CHANNEL_NONE) return `[no credit; ${tokens}]`
  const advantage = credit.advantage[start]!
  const name = { [CHANNEL_EXECUTION]: 'execution', [CHANNEL_SELECTION]: 'selection' }[channel!]
  const text = `[${name}: advantage ${number(advantage)}, weight ${number(credit.weight[start])} a token; ${tokens}]`
  return advantage > 0 ? style.green(text) : advantage < 0 ? style.red(text) : text
}

const indented = (text: string) => text.replace(/^/gm, '  ')

/** Head and tail of a long text, cut between characters. */
function shortened(text: string): string {
  const characters = [...text]
  const kept = 240
  if (characters.length <= 2 * kept) return text
  const left = characters.length - 2 * kept
  return `${characters.slice(0, kept).join('')}\n[... ${left} characters left out, --full prints them ...]\n${characters.slice(-kept).join('')}`
}
