import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readsOfTrajectory } from '../credit/reads.js'
import { SkillgateError } from '../errors.js'
import type { Agent } from '../rollout/agent.js'
import { Conversation, type HistoryMode } from '../rollout/conversation.js'
import type { FirstPromptOptions } from '../rollout/first-turn.js'
import type { PlayOptions } from '../rollout/play.js'
import { episodes } from '../rollout/session.js'
import {
  type OpenPolicy,
  openModelText,
  type openSkills,
  type SkillSetting,
  type SlateCounts,
} from '../rollout/setting.js'
import type { SkillRead, Trajectory } from '../rollout/trajectory.js'

export type Policy = Awaited<ReturnType<OpenPolicy>>
export type SkillSource = Parameters<typeof openSkills>[0]
export type Task = Parameters<Agent>[1]

/** The options of recipes that play episodes. */
export interface StageOptions extends SlateCounts {
  model: string
  skills?: SkillSource
  agent: string | Agent
  maxTurns: number
  maxTokensPerTurn: number
  maxTokens: number
  maxCallsPerTurn: number
  maxResultTokens?: number
  /** Seconds. */
  rolloutDeadline: number
  concurrency: number
  history: HistoryMode
  thinking: boolean
  readTools: readonly string[]
  execTools: readonly string[]
}

/** Where episodes are played: model text, skills and agent, ready for any policy of the model. */
export interface Stage {
  /** What `collect` and `playTasks` need to play with a policy. */
  play(
    policy: Policy,
    sampling: { temperature: number; topP: number },
  ): PlayOptions & { concurrency: number; slateFor: SkillSetting['slateFor'] }
  /** What `firstPrompt` needs, for a model that takes contexts of `maxContext` tokens. */
  ask(maxContext: number): FirstPromptOptions & Pick<SkillSetting, 'slateFor'>
}

/**
 * @param warn told once where the chat template does not go on from what was sampled
 * @param now what the chat template's clock says
 */
export async function openStage(
  options: StageOptions,
  skills: SkillSetting,
  warn: (text: string) => void,
  now: Date,
): Promise<Stage> {
  const { maxTurns, maxTokensPerTurn, maxTokens, maxCallsPerTurn, maxResultTokens, history, thinking } =
    options
  const { tokenizer, template } = await openModelText(options.model, now)
  const { library, slateFor } = skills
  const agent = await openAgent(options.agent)
  const variables = { enable_thinking: thinking }
  const reading = {
    isSkill: (path: string) => library?.byPath(path)?.name,
    endOfTurn: new Conversation({ tokenizer, template, variables }).stopTokens,
    readTools: options.readTools,
    execTools: options.execTools,
  }
  const findReads = (trajectory: Trajectory): SkillRead[] =>
    readsOfTrajectory(trajectory, (id) => tokenizer.bytesOf(id), reading)
  const limits = { maxTurns, maxTokensPerTurn, maxTokens, maxCallsPerTurn, maxResultTokens }
  const session = { tokenizer, template, library, history, variables, ...limits, onWarning: once(warn) }
  const deadlineMs = options.rolloutDeadline * 1000
  return {
    play: (policy, sampling) => ({
      agent,
      openEpisode: episodes({ ...session, policy, sampling }),
      deadlineMs,
      findReads,
      concurrency: options.concurrency,
      slateFor,
    }),
    ask: (maxContext) => ({ agent, deadlineMs, session, maxContext, slateFor }),
  }
}

function once(warn: (text: string) => void): (text: string) => void {
  let said = false
  return (text) => {
    if (!said) warn(text)
    said = true
  }
}

/**
 * An agent function, or the default export of a module.
 * @throws ERR_AGENT_MODULE
 */
async function openAgent(agent: string | Agent): Promise<Agent> {
  if (typeof agent === 'function') return agent
  const url = pathToFileURL(resolve(agent)).href
  let loaded: { default?: unknown }
  try {
    loaded = await import(url)
  } catch (cause) {
    throw new SkillgateError(
      'ERR_AGENT_MODULE',
      `cannot load the agent of ${agent}: ${(cause as Error).message}`,
      { cause },
    )
  }
  if (typeof loaded.default === 'function') return loaded.default as Agent
  throw new SkillgateError(
    'ERR_AGENT_MODULE',
    `expected ${agent} to export an agent function (session, task) => reward as default, got ${typeof loaded.default}`,
  )
}
