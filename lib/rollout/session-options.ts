import type { ChatTemplate } from '../policy/chat-template.js'
import type { Policy, SampleOptions } from '../policy/policy.js'
import type { Tokenizer } from '../policy/tokenizer.js'
import type { SkillLibrary } from '../skills/library.js'
import type { HistoryMode } from './conversation.js'

/** What episodes are played on and within. */
export interface SessionOptions {
  /** Only sampled from. */
  policy: Pick<Policy, 'version' | 'maxContext' | 'openSession' | 'generate'>
  tokenizer: Tokenizer
  template: ChatTemplate
  /** What can be read; without it the skills of the slate. */
  library?: SkillLibrary
  /** Temperature 1, nothing cut off, unless given. The seed is the rollout's. */
  sampling?: Omit<SampleOptions, 'seed'>
  /** Assistant turns of an episode. Default 30. */
  maxTurns?: number
  /** Tokens sampled in one turn. Default 4096. */
  maxTokensPerTurn?: number
  /** Length of the context, prompt included; never more than the model takes. Default 71680. */
  maxTokens?: number
  /** Tool calls of one turn that may run; those beyond are malformed. Default 5. */
  maxCallsPerTurn?: number
  /** A longer tool result keeps its head and its tail. Default: as long as it is. */
  maxResultTokens?: number
  /** Where the chat template would rewrite earlier turns. Default `append`. */
  history?: HistoryMode
  /** Variables of the chat template, e.g. `{ enable_thinking: false }`. */
  variables?: Readonly<Record<string, unknown>>
  /** Called with what a user should know of the conversation, once an episode. */
  onWarning?: (message: string) => void
}
