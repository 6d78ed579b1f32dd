import type { HistoryMode } from '../rollout/conversation.js'
import { type Demonstration, demonstrationSequences } from '../rollout/demonstration.js'
import type { ModelText } from '../rollout/setting.js'
import type { TrainSequence } from '../update/pack.js'
import type { Emit } from './events.js'

/** A demonstration as tokens; a rewritten history makes several sequences of one. */
export interface TokenizedDemonstration {
  taskId?: string
  sequences: { tokens: Int32Array; generated: Uint8Array }[]
}

export interface DemonstrationOptions {
  maxTokens: number
  history: HistoryMode
  thinking: boolean
  signal?: AbortSignal
}

/**
 * Demonstrations as tokens. One longer than `maxTokens` keeps its place and has no sequences. Told are: how many are done, how many are
 * too long, and once where the chat template does not go on from its own text.
 */
export async function tokenizeDemonstrations(
  source: readonly Demonstration[],
  text: ModelText,
  options: DemonstrationOptions,
  emit: Emit,
): Promise<TokenizedDemonstration[]> {
  const { maxTokens, history, thinking, signal } = options
  const warnings: string[] = []
  const variables = { enable_thinking: thinking }
  const conversation = { ...text, history, variables, onWarning: (warning: string) => warnings.push(warning) }
  const tokenized: TokenizedDemonstration[] = []
  for (const demonstration of source) {
    const sequences = demonstrationSequences(demonstration, conversation)
    const fits = sequences.every(({ tokens }) => tokens.length <= maxTokens)
    const kept = fits ? sequences.map(({ tokens, generated }) => ({ tokens, generated })) : []
    tokenized.push({ taskId: demonstration.taskId, sequences: kept })
    if (tokenized.length % 64 !== 0) continue
    emit({ type: 'progress', what: 'reading demonstrations', done: tokenized.length, total: source.length })
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
  }
  if (warnings.length > 0) emit({ type: 'warning', text: warnings[0]! })
  const tooLong = tokenized.filter(({ sequences }) => sequences.length === 0).length
  if (tooLong > 0) {
    const text = `${tooLong} of ${source.length} demonstrations are longer than ${maxTokens} tokens and not trained on`
    emit({ type: 'warning', text })
  }
  return tokenized
}

/** Tokens that are trained. */
export function countLossTokens(demonstrations: readonly TokenizedDemonstration[]): number {
  let count = 0
  for (const { sequences } of demonstrations) {
    for (const { generated } of sequences) for (const flag of generated) count += flag
  }
  return count
}

/** Demonstrations as sequences to train on: each trained token weighs as much as any other, all together 1. */
export function lossSequences(demonstrations: readonly TokenizedDemonstration[]): TrainSequence[] {
  const weight = 1 / countLossTokens(demonstrations)
  return demonstrations.flatMap(({ sequences }) =>
    sequences.map(({ tokens, generated }) => ({
      tokens,
      advantage: new Float32Array(tokens.length).fill(1),
      weight: Float32Array.from(generated, (flag) => flag * weight),
    })),
  )
}
