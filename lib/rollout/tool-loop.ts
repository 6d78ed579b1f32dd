import { SkillgateError } from '../errors.js'
import type { Task } from '../tasks/task.js'
import { unlessAborted } from './abort.js'
import type { Agent, AgentSession, AssistantTurn, RolloutOutcome, ToolCall, ToolDefinition } from './agent.js'

export interface ToolContext {
  task: Task
  session: AgentSession
  call: ToolCall
  /** Aborted at the rollout's deadline; the loop goes no further then, whatever the tool does. */
  signal: AbortSignal
}

export interface Tool extends ToolDefinition {
  /** Text is given to the policy as it is, nothing as '', anything else as JSON; what it throws, as its message. */
  run(args: Record<string, unknown>, context: ToolContext): unknown
}

/** How an episode went. */
export interface ToolEpisode {
  task: Task
  session: AgentSession
  turns: AssistantTurn[]
  /** Every call that ran, with the text that was given back. */
  calls: { call: ToolCall; result: string; failed: boolean }[]
  /** The text of the last turn outside its calls. */
  answer: string
  /**
   * `answer`: a turn without calls; `turns`: none is left; `tokens`: the context is full; `cut-off`: a turn ended at its
   * token limit before any complete call.
   */
  ended: 'answer' | 'turns' | 'tokens' | 'cut-off'
}

export interface ToolLoopOptions {
  /** Stands before the slate in the system prompt. */
  system?: string | ((task: Task) => string)
  /** A tool named `read` takes the place of the one that reads skills. */
  tools: readonly Tool[]
  /** Assistant turns. Default 30; the session's own limit holds too. */
  maxTurns?: number
  /** Tokens of one turn. Default: the session's limit. */
  maxTokensPerTurn?: number
  /** Scores the episode, also one that ended at a limit. */
  reward: (episode: ToolEpisode) => number | RolloutOutcome | Promise<number | RolloutOutcome>
}

/**
 * An agent that lets the policy call tools until it answers without a call. The system prompt holds `system` and, where
 * skills are shown, the slate; the user message is the task's prompt. Calls of a turn run one after the other.
 */
export function toolLoop(options: ToolLoopOptions): Agent {
  const { maxTurns = 30, maxTokensPerTurn, reward } = options
  checkTools(options.tools)
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1) {
    throw new SkillgateError(
      'ERR_INVALID_OPTION',
      `expected an integer of at least 1 for maxTurns, got ${maxTurns}`,
    )
  }
  return async (session, task) => {
    const tools = toolsFor(session, options.tools)
    const definitions = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
    open(session, task, options.system)
    const episode: ToolEpisode = { task, session, turns: [], calls: [], answer: '', ended: 'turns' }
    while (episode.turns.length < maxTurns) {
      const turn = await nextTurn(session, { tools: definitions, maxTokens: maxTokensPerTurn })
      if (typeof turn === 'string') {
        episode.ended = turn
        break
      }
      episode.turns.push(turn)
      episode.answer = turn.content
      if (turn.toolCalls.length === 0 && turn.finishReason === 'length') {
        episode.ended = 'cut-off'
        break
      }
      if (turn.toolCalls.length + turn.malformed.length === 0) {
        episode.ended = 'answer'
        break
      }
      for (const call of turn.toolCalls) await answerCall(call, tools, episode)
      for (const { reason } of turn.malformed) session.toolError(`Error: the call did not run: ${reason}`)
    }
    return reward(episode)
  }
}

function checkTools(tools: readonly Tool[]): void {
  const seen = new Set<string>()
  for (const [i, tool] of tools.entries()) {
    const complete = typeof tool?.name === 'string' && tool.name !== '' && typeof tool.run === 'function'
    if (!complete || seen.has(tool.name)) {
      const got = complete ? `'${tool.name}' twice` : `tools[${i}] without them`
      throw new SkillgateError(
        'ERR_INVALID_OPTION',
        `expected tools with a name of their own and a run function, got ${got}`,
      )
    }
    seen.add(tool.name)
  }
}

function toolsFor(session: AgentSession, given: readonly Tool[]): readonly Tool[] {
  const hasSkills = session.slate.candidates.length > 0
  return hasSkills && !given.some((tool) => tool.name === 'read') ? [readTool, ...given] : given
}

const readTool: Tool = {
  name: 'read',
  description: 'Read a skill. Returns the text of its SKILL.md.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Location of the SKILL.md, as listed.' } },
    required: ['path'],
  },
  run({ path }, { session }) {
    if (typeof path !== 'string') throw new Error('expected a path')
    const content = session.readSkill(path)
    if (content === undefined) throw new Error(`no such file: ${path}`)
    return content
  },
}

function open(session: AgentSession, task: Task, system: ToolLoopOptions['system']): void {
  const text = typeof system === 'function' ? system(task) : system
  const parts = [text, session.availableSkills()].filter((part) => part !== undefined && part !== '')
  if (parts.length > 0) session.system(parts.join('\n\n'))
  session.user(task.prompt)
}

/** The next turn, or why there is none. */
async function nextTurn(
  session: AgentSession,
  options: Parameters<AgentSession['generate']>[0],
): Promise<AssistantTurn | 'turns' | 'tokens'> {
  try {
    return await session.generate(options)
  } catch (cause) {
    if (cause instanceof SkillgateError && cause.code === 'ERR_TURN_LIMIT') return 'turns'
    if (cause instanceof SkillgateError && cause.code === 'ERR_CONTEXT_LENGTH') return 'tokens'
    throw cause
  }
}

async function answerCall(call: ToolCall, tools: readonly Tool[], episode: ToolEpisode): Promise<void> {
  const { session, task } = episode
  const tool = tools.find(({ name }) => name === call.name)
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(', ') || 'none'
    session.toolError(`Error: no tool '${call.name}'. Tools: ${names}`, call.name)
    return
  }
  const context = { task, session, call, signal: session.signal }
  let result: string
  let failed = false
  try {
    const running = (async () => tool.run(call.arguments, context))()
    result = textOf(await unlessAborted(running, session.signal))
  } catch (cause) {
    session.signal.throwIfAborted()
    failed = true
    result = `Error: ${cause instanceof Error ? cause.message : String(cause)}`
  }
  session.toolResult(call, result)
  episode.calls.push({ call, result, failed })
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? String(v) : v)) ?? ''
}
