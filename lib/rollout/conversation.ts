import { SkillgateError } from '../errors.js'
import type { ChatTemplate } from '../policy/chat-template.js'
import type { Tokenizer } from '../policy/tokenizer.js'
import type { ToolDefinition } from './agent.js'
import { commonPrefixLength, type EndOfTurn, findEndOfTurn, textAfter } from './template-text.js'
import { TokenRecord } from './token-record.js'
import type { Message, TrajectorySequence } from './trajectory.js'

/**
 * What to do where a fresh rendering of the conversation does not begin with what the model has seen and said:
 * `append` keeps it and goes on, `rerender` goes on in a new sequence as a chat server would, `strict` refuses.
 */
export type HistoryMode = 'append' | 'rerender' | 'strict'

export interface ConversationOptions {
  tokenizer: Tokenizer
  template: ChatTemplate
  /** Default `append`. */
  history?: HistoryMode
  /** Tools of every prompt that names none. */
  tools?: readonly ToolDefinition[]
  /** Template variables, e.g. `{ enable_thinking: false }`. */
  variables?: Readonly<Record<string, unknown>>
  /** Called once, where `append` first departs from a fresh rendering. */
  onWarning?: (message: string) => void
}

/** An assistant turn as it was recorded. */
export interface RecordedTurn {
  /** Index into `sequences()`, and into the turns of that sequence. */
  sequence: number
  turn: number
  /** The sampled text without the token that ended it. */
  text: string
  /** The exact bytes of `text`'s tokens; byte ranges of tool calls count in them. */
  bytes: Uint8Array
  /** Sampled ids, the one that ended the turn included. */
  tokens: number
  /** Cut off before the turn ended. */
  truncated: boolean
}

type FinishReason = 'stop' | 'length' | 'aborted'

interface Prompt {
  messages: number
  tools: readonly ToolDefinition[] | undefined
  /** What it continues: the current sequence, or a branch of it. */
  record: TokenRecord
  text: string
  ids: Int32Array
}

/**
 * A conversation that grows by appending token ids. Sampled ids are kept as they are; the ids of the template's own text
 * around them (end of turn, tool results, the next generation prompt) are found by difference on renderings.
 */
export class Conversation {
  readonly messages: Message[] = []
  readonly warnings: string[] = []
  truncated = false

  readonly #options: ConversationOptions
  readonly #endOfTurn: EndOfTurn
  readonly #stopTokens: ReadonlySet<number>
  readonly #finished: TokenRecord[] = []
  #record = new TokenRecord()
  #prompt: Prompt | undefined
  #lastTools: string | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#endOfTurn = findEndOfTurn(options.template, options.tokenizer, options.variables)
    const ends = this.#endOfTurn.id === undefined ? [] : [this.#endOfTurn.id]
    this.#stopTokens = new Set([...ends, ...options.tokenizer.endOfTurnIds])
  }

  /** Ids after which a generation should stop: the template's end of turn first, then the model's others. */
  get stopTokens(): number[] {
    return [...this.#stopTokens]
  }

  /** Tokens of the context: of the prompt where one is waiting for its generation. */
  get length(): number {
    return this.#prompt ? this.#prompt.record.length + this.#prompt.ids.length : this.#record.length
  }

  /** Adds a message that was not sampled. An assistant message added here is part of the prompt and not trained. */
  add(message: Message): void {
    this.messages.push(message)
  }

  /** The whole context of the next generation. Asking again without new messages gives the same ids. */
  promptForGeneration(options: { tools?: readonly ToolDefinition[] } = {}): Int32Array {
    const tools = options.tools ?? this.#options.tools
    const waiting = this.#prompt
    if (waiting?.messages !== this.messages.length || waiting.tools !== tools) {
      this.#prompt = this.#continue(tools)
    }
    return this.#prompt!.record.tokensWith(this.#prompt!.ids)
  }

  /** Records what was sampled from the last prompt. `logprobs` has one finite entry an id. */
  appendGenerated(tokens: Int32Array, logprobs: ArrayLike<number>, finishReason: FinishReason): RecordedTurn {
    if (tokens.length !== logprobs.length) {
      throw conversationError(`expected one logprob a token, got ${tokens.length} and ${logprobs.length}`)
    }
    for (let i = 0; i < logprobs.length; i++) {
      if (!Number.isFinite(logprobs[i])) {
        throw conversationError(`expected finite logprobs, got ${logprobs[i]} at token ${i} of a generation`)
      }
    }
    return this.#keep(tokens, logprobs, finishReason)
  }

  /** Records a demonstration: the text and the template's end of turn count as sampled, with logprob 0. */
  appendAssistant(text: string, options: { tools?: readonly ToolDefinition[] } = {}): RecordedTurn {
    const { tokenizer } = this.#options
    const prompt = this.promptForGeneration(options)
    const end = tokenizer.textOf(this.#endOfTurn.ids)
    const own = end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text
    const ids = [...tokenizer.encodeAfter(prompt.at(-1), own), ...this.#endOfTurn.ids]
    return this.#keep(Int32Array.from(ids), new Float32Array(ids.length), 'stop')
  }

  /** The token sequences so far, each through its last sampled turn. */
  sequences(): TrajectorySequence[] {
    return [...this.#finished, this.#record]
      .filter((record) => record.turnCount > 0)
      .map((record) => record.sequence())
  }

  #keep(tokens: Int32Array, logprobs: ArrayLike<number>, finishReason: FinishReason): RecordedTurn {
    const prompt = this.#prompt
    if (prompt === undefined || prompt.messages !== this.messages.length) {
      const since = prompt ? `, got ${this.messages.length - prompt.messages} messages since` : ''
      throw conversationError(`expected a prompt for this generation${since}: call promptForGeneration first`)
    }
    const { tokenizer } = this.#options
    if (prompt.record !== this.#record) {
      this.#finished.push(this.#record)
      this.#record = prompt.record
    }
    this.#record.appendPrompt(prompt.text, prompt.ids)
    this.#prompt = undefined

    const last = tokens.at(-1)
    const endToken = last !== undefined && this.#stopTokens.has(last) ? last : undefined
    const own = endToken === undefined ? tokens : tokens.slice(0, -1)
    const text = tokenizer.decode(own)
    const ended = endToken === undefined ? '' : tokenizer.textOf([endToken])
    this.#record.appendTurn(text + ended, tokens, logprobs, { message: this.messages.length, endToken })
    this.messages.push({ role: 'assistant', content: text })
    const truncated = finishReason !== 'stop' && endToken === undefined
    this.truncated ||= truncated
    return {
      sequence: this.#finished.filter((record) => record.turnCount > 0).length,
      turn: this.#record.turnCount - 1,
      text,
      bytes: Buffer.concat(Array.from(own, (id) => tokenizer.bytesOf(id))),
      tokens: tokens.length,
      truncated,
    }
  }

  /** What comes after the last sampled turn, through the next generation prompt. */
  #continue(tools: readonly ToolDefinition[] | undefined): Prompt {
    const { tokenizer, template, variables, history = 'append' } = this.#options
    const rendering = { tools, addGenerationPrompt: true, variables }
    const record = this.#record
    const last = record.sampled.at(-1)
    const prompt = (text: string, from: TokenRecord = record): Prompt => {
      const ids = tokenizer.encodeAfter(from.sampled.at(-1)?.endToken, text)
      return { messages: this.messages.length, tools, record: from, text, ids }
    }
    const toolList = JSON.stringify(tools ?? [])
    const toolsChanged = this.#lastTools !== undefined && this.#lastTools !== toolList
    this.#lastTools = toolList
    if (last === undefined) return prompt(template.render(this.messages, rendering))

    const departed = this.warnings.length > 0
    const fresh = departed ? undefined : template.render(this.messages, rendering)
    if (fresh?.startsWith(record.text)) return prompt(fresh.slice(record.text.length))
    if (fresh !== undefined && history !== 'append') {
      const common = commonPrefixLength(record.text, fresh)
      if (history === 'strict') {
        throw new SkillgateError(
          'ERR_HISTORY',
          `history "strict": ${this.#difference(fresh, common, toolsChanged)}`,
        )
      }
      const shared = record.sampled.findLast((turn) => turn.textEnd <= common)
      const branch = record.branch(shared)
      return prompt(fresh.slice(branch.text.length), branch)
    }
    if (fresh !== undefined) {
      const difference = this.#difference(fresh, commonPrefixLength(record.text, fresh), toolsChanged)
      this.#warn(`history "append" keeps what was sampled, but ${difference}`)
    }
    const after = textAfter(template, this.messages, last.message, rendering)
    return prompt(last.endToken === undefined ? after : this.#withoutEndOfTurn(after, last.endToken))
  }

  /** The end token that was sampled is not written again, and stands for the template's own end of turn. */
  #withoutEndOfTurn(text: string, sampled: number): string {
    const { tokenizer } = this.#options
    const rest = text.trimStart()
    const ends = [sampled, this.#endOfTurn.id ?? sampled].map((id) => tokenizer.textOf([id]))
    const end = ends.find((name) => name !== '' && rest.startsWith(name))
    return end === undefined ? text : rest.slice(end.length)
  }

  #difference(fresh: string, common: number, toolsChanged: boolean): string {
    const { text, sampled } = this.#record
    const turn = sampled.find((earlier) => earlier.textEnd > common) ?? sampled.at(-1)!
    const next = sampled.at(-1)!.message + 1
    const cause = toolsChanged
      ? 'with the changed tools'
      : this.messages.length > next
        ? `once messages[${next}] (${this.messages[next]!.role}) follows`
        : 'once a turn follows'
    const start = Math.max(text.lastIndexOf('\n', common - 1) + 1, common - 30)
    const excerpt = (from: string) => JSON.stringify(from.slice(start, common + 40))
    return (
      `a fresh rendering differs at messages[${turn.message}] (assistant) ${cause}: ` +
      `expected ${excerpt(text)}, the chat template writes ${excerpt(fresh)}`
    )
  }

  #warn(message: string): void {
    this.warnings.push(message)
    this.#options.onWarning?.(message)
  }
}

function conversationError(message: string): SkillgateError {
  return new SkillgateError('ERR_CONVERSATION', message)
}
