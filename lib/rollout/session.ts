import { SkillgateError } from '../errors.js'
import type { GenerateResult, GenerationSession } from '../policy/policy.js'
import { availableSkills } from '../skills/available-skills.js'
import { SkillLibrary } from '../skills/library.js'
import type { Slate } from '../skills/skill.js'
import type { Task } from '../tasks/task.js'
import type { AssistantTurn, RolloutOutcome, ToolCall, ToolDefinition } from './agent.js'
import { Conversation } from './conversation.js'
import type { Episode, RolloutStart } from './episode.js'
import { turnSeed } from './seeds.js'
import type { SessionOptions } from './session-options.js'
import { shortenText } from './shorten.js'
import { parseToolCalls } from './tool-calls.js'
import type { DispatchedCall, Failure, Message, Trajectory } from './trajectory.js'

/** Opens episodes on a policy; for `collect` and `playTasks`. */
export function episodes(options: SessionOptions): (start: RolloutStart) => Episode {
  return (start) => new RolloutSession(start, options)
}

/** A call of the latest turn that waits for its result. */
type PendingCall = Omit<DispatchedCall, 'id' | 'arguments'>

/**
 * One episode on a policy. Refuses, with the code: ERR_TURN_LIMIT (maxTurns are played), ERR_CONTEXT_LENGTH (no token is
 * free), ERR_TOOL_CALL (the result of no call of the latest turn), ERR_SESSION_BUSY (a turn is being sampled),
 * ERR_SESSION_CLOSED (the episode is over).
 */
export class RolloutSession implements Episode {
  readonly #start: RolloutStart
  readonly #options: SessionOptions
  readonly #conversation: Conversation
  readonly #cache: GenerationSession
  readonly #policyVersion: number
  readonly #contextLimit: number
  readonly #dispatched: DispatchedCall[] = []
  #pending = new Map<string, PendingCall>()
  #library: SkillLibrary | undefined
  #turns = 0
  #truncated = false
  #state: 'open' | 'sampling' | 'closed' = 'open'

  constructor(start: RolloutStart, options: SessionOptions) {
    const { policy, tokenizer, template, history, variables, onWarning, maxTokens = 71_680 } = options
    this.#start = start
    this.#options = options
    this.#library = options.library
    this.#conversation = new Conversation({ tokenizer, template, history, variables, onWarning })
    this.#contextLimit = Math.min(maxTokens, policy.maxContext)
    this.#policyVersion = policy.version
    this.#cache = policy.openSession()
  }

  get task(): Task {
    return this.#start.task
  }

  get slate(): Slate {
    return this.#start.slate
  }

  get signal(): AbortSignal {
    return this.#start.signal
  }

  get seed(): number {
    return this.#start.seed
  }

  get remainingTokens(): number {
    return Math.max(0, this.#contextLimit - this.#conversation.length)
  }

  system(content: string): void {
    this.#add({ role: 'system', content })
  }

  user(content: string): void {
    this.#add({ role: 'user', content })
  }

  toolResult(call: ToolCall, content: string): void {
    const pending = this.#pending.get(call.id)
    if (pending === undefined) {
      const waiting = [...this.#pending.keys()].join(', ') || 'none'
      throw new SkillgateError(
        'ERR_TOOL_CALL',
        `expected the result of a call that waits for one (${waiting}), got one of '${call.id}'`,
      )
    }
    this.#addResult(content, pending.tool)
    this.#pending.delete(call.id)
    this.#dispatched.push({ ...pending, id: call.id, arguments: call.arguments })
  }

  toolError(content: string, tool?: string): void {
    this.#addResult(content, tool)
  }

  availableSkills(): string {
    return this.slate.candidates.length === 0 ? '' : availableSkills(this.slate)
  }

  readSkill(path: string): string | undefined {
    this.#library ??= new SkillLibrary(this.slate.candidates.map(({ skill }) => skill))
    return this.#library.byPath(path)?.content
  }

  async generate(
    options: { tools?: readonly ToolDefinition[]; maxTokens?: number } = {},
  ): Promise<AssistantTurn> {
    this.#expectOpen()
    this.signal.throwIfAborted()
    const { maxTurns = 30, maxTokensPerTurn = 4096 } = this.#options
    if (this.#turns >= maxTurns) {
      throw new SkillgateError(
        'ERR_TURN_LIMIT',
        `expected at most ${maxTurns} turns (maxTurns), got one more`,
      )
    }
    const { maxTokens = maxTokensPerTurn, tools } = options
    if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) {
      throw new SkillgateError(
        'ERR_INVALID_OPTION',
        `expected maxTokens of a turn as an integer of at least 1, got ${maxTokens}`,
      )
    }
    const tokens = this.#conversation.promptForGeneration({ tools })
    const room = this.#contextLimit - tokens.length
    if (room < 1) {
      this.#truncated = true
      throw new SkillgateError(
        'ERR_CONTEXT_LENGTH',
        `expected a context of fewer than ${this.#contextLimit} tokens ${this.#limitName()}, ` +
          `got ${tokens.length} before turn ${this.#turns + 1}`,
      )
    }
    const sampled = await this.#sample(tokens, Math.min(maxTokens, maxTokensPerTurn, room))
    return this.#record(sampled, tools)
  }

  finish(result: RolloutOutcome | { failure: Failure }): Trajectory {
    if (this.#state !== 'closed') this.#cache.close()
    this.#state = 'closed'
    const { task, slate, seed, group, index } = this.#start
    return {
      ...{ task: task.id, group, index, seed, policyVersion: this.#policyVersion },
      sequences: this.#conversation.sequences(),
      slate: slate.candidates.map(({ skill: { name, location }, category }) =>
        category === undefined ? { name, location } : { name, location, category },
      ),
      calls: this.#dispatched.toSorted(
        (a, b) => a.sequence - b.sequence || a.turn - b.turn || a.bytes.start - b.bytes.start,
      ),
      reads: [],
      labelled: slate.labelled,
      ...('failure' in result ? { reward: null, ...result } : result),
      truncated: this.#truncated || this.#conversation.truncated,
      turns: this.#turns,
      messages: [...this.#conversation.messages],
    }
  }

  /** Samples one turn; a result that comes after the end of the episode is dropped. */
  async #sample(tokens: Int32Array, maxTokens: number): Promise<GenerateResult> {
    const { policy, sampling } = this.#options
    this.#state = 'sampling'
    try {
      const sampled = await policy.generate({
        ...sampling,
        ...{ session: this.#cache, tokens, maxTokens, signal: this.signal },
        seed: turnSeed(this.seed, this.#turns),
        stopTokens: this.#conversation.stopTokens,
      })
      if (sampled.finishReason !== 'aborted') return sampled
    } finally {
      if (this.#state === 'sampling') this.#state = 'open'
    }
    this.signal.throwIfAborted()
    throw closedError()
  }

  #record(sampled: GenerateResult, tools: readonly ToolDefinition[] | undefined): AssistantTurn {
    this.#expectOpen()
    const recorded = this.#conversation.appendGenerated(
      sampled.tokens,
      sampled.logprobs,
      sampled.finishReason,
    )
    const parsed = parseToolCalls(recorded.bytes, { maxCalls: this.#options.maxCallsPerTurn, tools })
    this.#turns += 1
    this.#pending = new Map()
    const last = parsed.malformed.at(-1)
    const cutInside =
      recorded.truncated && last?.bytes.end === recorded.bytes.length && !last.text.endsWith('</tool_call>')
    const toolCalls = (cutInside ? [] : parsed.calls).map((call, place): ToolCall => {
      const id = `call-${this.#turns}-${place + 1}`
      const { sequence, turn } = recorded
      this.#pending.set(id, { tool: call.name, sequence, turn, bytes: call.bytes })
      return { id, name: call.name, arguments: call.arguments }
    })
    return {
      text: recorded.text,
      content: parsed.content,
      toolCalls,
      malformed: parsed.malformed.map(({ text, reason }) => ({ text, reason })),
      finishReason: recorded.truncated ? 'length' : 'stop',
      tokens: recorded.tokens,
    }
  }

  #addResult(content: string, tool: string | undefined): void {
    const { maxResultTokens, tokenizer } = this.#options
    const text = maxResultTokens === undefined ? content : shortenText(content, maxResultTokens, tokenizer)
    this.#add(
      tool === undefined ? { role: 'tool', content: text } : { role: 'tool', content: text, name: tool },
    )
  }

  #add(message: Message): void {
    this.#expectOpen()
    if (typeof message.content !== 'string') {
      throw new SkillgateError(
        'ERR_MESSAGE',
        `expected text as the content of a ${message.role} message, got ${typeof message.content}`,
      )
    }
    this.#conversation.add(message)
  }

  #expectOpen(): void {
    if (this.#state === 'closed') throw closedError()
    if (this.#state === 'sampling') {
      throw new SkillgateError(
        'ERR_SESSION_BUSY',
        'expected to wait for the turn being sampled, got another call',
      )
    }
  }

  #limitName(): string {
    return this.#contextLimit === this.#options.policy.maxContext ? '(all the model takes)' : '(maxTokens)'
  }
}

function closedError(): SkillgateError {
  return new SkillgateError('ERR_SESSION_CLOSED', 'expected an open session, the episode is over')
}
