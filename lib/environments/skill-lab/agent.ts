import type { Agent } from '../../rollout/agent.js'
import { SeededRandom } from './seeded-random.js'
import type { LabTask } from './tasks.js'
import { verify } from './verify.js'
import { labTools, Workbench } from './workbench.js'

/** Two reads, five commands `horizon` times over, and a last word. */
export const maxTurns = (horizon = 1) => 3 + 5 * horizon
/** No turn of the environment needs more. */
export const MAX_TURN_TOKENS = 64

/** The system prompt around an `<available_skills>` block, which is empty where no slate is shown. */
export function systemPrompt(availableSkills: string): string {
  const request = 'Pick the skill that fits the task, read it, then run its steps.'
  return availableSkills === '' ? request : `${request}\n\n${availableSkills}`
}

const FAILURE_STREAM = 31

/**
 * The place of the first command that breaks, each with probability `failures`, by the rollout's seed alone. Nothing shows it but the
 * reward: what was chosen and done may have been right.
 */
function firstBroken(commands: number, failures: number, seed: number): number | undefined {
  if (failures === 0) return undefined
  const random = new SeededRandom(seed, FAILURE_STREAM)
  for (let i = 0; i < commands; i++) if (random.uniform() < failures) return i
  return undefined
}

/** The environment's agent. `procedures` holds by a skill's name the commands its tasks ask for. */
export function labAgent(
  procedures: ReadonlyMap<string, readonly string[]>,
  known: ReadonlySet<string>,
  turns = maxTurns(),
): Agent {
  return async (session, task) => {
    const { data } = task as LabTask
    const bench = new Workbench((path) => session.readSkill(path), known)
    session.system(systemPrompt(session.availableSkills()))
    session.user(task.prompt)
    for (let i = 0; i < turns; i++) {
      const turn = await session.generate({ tools: labTools, maxTokens: MAX_TURN_TOKENS })
      if (turn.toolCalls.length === 0 || turn.finishReason === 'length') break
      for (const call of turn.toolCalls) {
        const answer = bench.answer(call)
        if (answer === undefined) session.toolError('unknown call', call.name)
        else session.toolResult(call, answer)
      }
    }
    const outcome = verify(bench.executed, procedures.get(data.skill)!)
    const broken = firstBroken(bench.executed.length, data.commandFailures ?? 0, session.seed)
    return broken === undefined ? outcome : { ...outcome, reward: 0, details: { ...outcome.details, broken } }
  }
}
