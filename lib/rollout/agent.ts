import type { Slate } from '../skills/skill.js'
import type { Task } from '../tasks/task.js'

/** A tool as chat templates take it (JSON schema of the parameters). */
export interface ToolDefinition {
  name: string
  description: string
  parameters: Record<string, unknown>
}

export interface ToolCall {
  /** `call-<turn>-<place>`, unique in the episode. */
  id: string
  name: string
  arguments: Record<string, unknown>
}

export interface AssistantTurn {
  /** The sampled text, tool calls included, end-of-turn token left out. */
  text: string
  /** The text outside tool calls. */
  content: string
  /** Complete calls in order of appearance; empty where the turn was cut off inside one. */
  toolCalls: ToolCall[]
  /** Calls that could not be parsed, with the reason. */
  malformed: { text: string; reason: string }[]
  finishReason: 'stop' | 'length'
  tokens: number
}

/**
 * One episode as the agent function sees it: a conversation with the policy. Messages are appended, `generate` samples the
 * next assistant turn. Token ids, masks and logprobs are kept behind it.
 */
export interface AgentSession {
  readonly task: Task
  readonly slate: Slate
  /** Aborted at the rollout's deadline or when the run stops. */
  readonly signal: AbortSignal
  /** Different for each rollout of a group, the same when the run is repeated. */
  readonly seed: number
  /** Tokens still free in the context. */
  readonly remainingTokens: number

  system(content: string): void
  user(content: string): void
  /** Gives the result of a call back; this is what makes the call a dispatched one. */
  toolResult(call: ToolCall, content: string): void
  /** Answers a call that did not run, malformed or of a tool that does not exist. It does not count as dispatched. */
  toolError(content: string, tool?: string): void
  /** The slate as an `<available_skills>` block for a system prompt. */
  availableSkills(): string
  /** The file a skill path names, or undefined: any skill of the library can be read, shown or not. */
  readSkill(path: string): string | undefined

  generate(options?: { tools?: readonly ToolDefinition[]; maxTokens?: number }): Promise<AssistantTurn>
}

export interface RolloutOutcome {
  reward: number
  details?: Record<string, unknown>
}

/** What a user writes: play one episode, return its reward. */
export type Agent = (session: AgentSession, task: Task) => Promise<number | RolloutOutcome>
