import type { HistoryMode } from '../rollout/conversation.js'
import { type Demonstration, demonstrationSequences } from '../rollout/demonstration.js'
import type { ModelText } from '../rollout/setting.js'
import type { TrainSequence } from '../update/pack.js'

/** A demonstration as tokens; a rewritten history makes several sequences of one. */
export interface TokenizedDemonstration {
  taskId?: string
  sequences: { tokens: Int32Array; generated: Uint8Array }[]
}

export interface DemonstrationOptions {
  maxTokens: number
  history: HistoryMode
  thinking: boolean
}

/**
 * Demonstrations as tokens. One longer than `maxTokens` keeps its place and has no sequences.
 * @param warn told how many are too long, and once where the chat template does not go on from its own text
 */
export function tokenizeDemonstrations(
  source: readonly Demonstration[],
  text: ModelText,
  options: DemonstrationOptions,
  warn: (text: string) => void,
): TokenizedDemonstration[] {
  const { maxTokens, history, thinking } = options
  let warned = false
  const onWarning = (message: string) => {
    if (!warned) warn(message)
    warned = true
  }
  let tooLong = 0
  const tokenized = source.map((demonstration): TokenizedDemonstration => {
    const conversation = { ...text, history, variables: { enable_thinking: thinking }, onWarning }
    const sequences = demonstrationSequences(demonstration, conversation)
    const fits = sequences.every(({ tokens }) => tokens.length <= maxTokens)
    if (!fits) tooLong += 1
    const kept = fits ? sequences.map(({ tokens, generated }) => ({ tokens, generated })) : []
    return { taskId: demonstration.taskId, sequences: kept }
  })
  if (tooLong > 0) {
    warn(
      `${tooLong} of ${source.length} demonstrations are longer than ${maxTokens} tokens and not trained on`,
    )
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
