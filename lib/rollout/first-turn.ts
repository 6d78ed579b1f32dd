import { SkillgateError } from '../errors.js'
import type { GenerationSession } from '../policy/policy.js'
import { linkedController } from './abort.js'
import type { ToolDefinition } from './agent.js'
import type { RolloutStart } from './episode.js'
import { type PlayOptions, playRollout } from './play.js'
import { RolloutSession } from './session.js'
import type { SessionOptions } from './session-options.js'
import type { Failure } from './trajectory.js'

/** What an agent asks its first assistant turn with. */
export interface FirstPrompt {
  tokens: Int32Array
  tools: readonly ToolDefinition[]
}

export interface FirstPromptOptions extends Pick<PlayOptions, 'agent' | 'deadlineMs'> {
  session: Omit<SessionOptions, 'policy'>
  /** Longest context the model takes. */
  maxContext: number
}

/**
 * Plays an episode up to its first request for an assistant turn; nothing is sampled, and the agent is left there with its signal aborted.
 * @returns the prompt, or why the agent did not come so far
 * @throws ERR_ABORTED where `run` is aborted
 */
export async function firstPrompt(
  start: Omit<RolloutStart, 'signal'>,
  { agent, deadlineMs, session, maxContext }: FirstPromptOptions,
  run: AbortSignal | undefined,
): Promise<FirstPrompt | Failure> {
  const { controller, unlink } = linkedController(run)
  let asked: FirstPrompt | undefined
  const asking: AskingPolicy = {
    ...{ version: 0, maxContext, openSession: noCache },
    async generate({ tokens }) {
      asked = { tokens, tools: opened?.tools ?? [] }
      controller.abort(new SkillgateError('ERR_FIRST_TURN', 'the first prompt is all that is wanted'))
      return { tokens: new Int32Array(0), logprobs: new Float32Array(0), finishReason: 'aborted' }
    },
  }
  let opened: AskedSession | undefined
  const openEpisode = (start: RolloutStart) => {
    opened = new AskedSession(start, { ...session, policy: asking })
    return opened
  }
  try {
    const { failure } = await playRollout(start, { agent, openEpisode, deadlineMs }, controller.signal)
    const without = { code: 'ERR_FIRST_TURN', message: 'the agent ended without asking for a turn' }
    return asked ?? failure ?? without
  } catch (cause) {
    if (asked && run?.aborted !== true) return asked
    throw cause
  } finally {
    unlink()
  }
}

type AskingPolicy = SessionOptions['policy']

/** Keeps the tools of the latest request. */
class AskedSession extends RolloutSession {
  tools: readonly ToolDefinition[] = []

  override generate(options: { tools?: readonly ToolDefinition[]; maxTokens?: number } = {}) {
    this.tools = options.tools ?? []
    return super.generate(options)
  }
}

function noCache(): GenerationSession {
  return { id: 0, fork: noCache, close: () => {} }
}
