import { SkillgateError } from '../errors.js'
import { firstPrompt } from '../rollout/first-turn.js'
import { Limiter } from '../rollout/limiter.js'
import { type ReadTurnOptions, readTurnText } from '../rollout/read-turn.js'
import { groupSeed } from '../rollout/seeds.js'
import { findEndOfTurn } from '../rollout/template-text.js'
import type { Pair } from '../update/dpo.js'
import type { Emit } from './events.js'
import type { Stage, Task } from './stage.js'

/** Prompt and first turn of an episode as one sequence; `generated` is 1 on the turn's tokens. */
export interface FirstTurnSequence {
  tokens: Int32Array
  generated: Uint8Array
}

/** What the first turn of a task's episode may be: a read of each right skill, and of each that is not. */
export interface Choice {
  task: string
  chosen: FirstTurnSequence[]
  rejected: FirstTurnSequence[]
}

export interface ChoiceOptions extends ReadTurnOptions {
  /** Which candidates are rejected ones. */
  against: 'nothing' | 'misleading' | 'distractors'
  /** Of the run; with `step` and the place of a task it determines the slate, as in `train`. */
  seed: number
  step: number
  maxTokens: number
  concurrency: number
  signal?: AbortSignal
}

/**
 * The choices of one step's tasks, in their order. Each prompt is what the agent asks its first turn with, so a task whose agent does not
 * come so far, whose turn is too long or whose slate has nothing to reject is left out, and `left` says why.
 * @throws ERR_NO_CHOICES where no task is left, ERR_READ_TURN, ERR_ABORTED
 */
export async function makeChoices(
  tasks: readonly Task[],
  ask: ReturnType<Stage['ask']>,
  options: ChoiceOptions,
): Promise<{ choices: Choice[]; left: string[] }> {
  const limiter = new Limiter(options.concurrency)
  const made = await Promise.all(
    tasks.map((task, place) => limiter.run(() => makeChoice(task, place, ask, options))),
  )
  const choices = made.filter((choice) => typeof choice !== 'string')
  const left = made.filter((choice) => typeof choice === 'string')
  if (choices.length > 0) return { choices, left }
  throw new SkillgateError(
    'ERR_NO_CHOICES',
    `expected a first turn of at least one of ${tasks.length} tasks, got none: ${left[0]}`,
  )
}

async function makeChoice(
  task: Task,
  place: number,
  ask: ReturnType<Stage['ask']>,
  options: ChoiceOptions,
): Promise<Choice | string> {
  const { seed, step, against, signal } = options
  const { tokenizer, template, variables } = ask.session
  const slate = ask.slateFor(task, groupSeed(seed, step, place))
  const oracles = slate.candidates.filter(({ category }) => category === 'oracle')
  const others = slate.candidates.filter(({ category }) =>
    against === 'misleading' ? category === 'misleading' : against === 'distractors' && category !== 'oracle',
  )
  if (oracles.length === 0) return `task '${task.id}': no right skill in its slate`
  if (against !== 'nothing' && others.length === 0) return `task '${task.id}': no ${against} in its slate`
  const prompt = await firstPrompt({ task, slate, seed, group: place, index: 0 }, ask, signal)
  if ('code' in prompt) return `task '${task.id}': ${prompt.code}, ${prompt.message}`
  const end = findEndOfTurn(template, tokenizer, variables).ids
  const sequenceOf = ({ skill }: (typeof oracles)[number]): FirstTurnSequence => {
    const text = readTurnText(skill.location, prompt.tools, options)
    const turn = [...tokenizer.encodeAfter(prompt.tokens.at(-1), text), ...end]
    const tokens = Int32Array.of(...prompt.tokens, ...turn)
    return { tokens, generated: Uint8Array.from(tokens, (_, t) => (t < prompt.tokens.length ? 0 : 1)) }
  }
  const choice = { task: task.id, chosen: oracles.map(sequenceOf), rejected: others.map(sequenceOf) }
  const longest = Math.max(...[...choice.chosen, ...choice.rejected].map(({ tokens }) => tokens.length))
  const most = Math.min(options.maxTokens, ask.maxContext)
  return longest <= most
    ? choice
    : `task '${task.id}': its first turn ends at ${longest} tokens, of at most ${most}`
}

/** Every read of a right skill against every rejected one of the same task; the sequences of a task are neighbours. */
export function pairsOf(choices: readonly Choice[]): { sequences: FirstTurnSequence[]; pairs: Pair[] } {
  const sequences: FirstTurnSequence[] = []
  const pairs: Pair[] = []
  for (const { chosen, rejected } of choices) {
    const start = sequences.push(...chosen, ...rejected) - chosen.length - rejected.length
    for (const c of chosen.keys())
      for (const r of rejected.keys()) pairs.push({ chosen: start + c, rejected: start + chosen.length + r })
  }
  return { sequences, pairs }
}

/**
 * The tasks that have an oracle label; the others are counted in a notice.
 * @throws ERR_TASKS where none has
 */
export function labelledTasks(tasks: readonly Task[], recipe: string, emit: Emit): Task[] {
  const labelled = tasks.filter(({ oracle }) => (oracle?.length ?? 0) > 0)
  if (labelled.length === 0) {
    throw new SkillgateError(
      'ERR_TASKS',
      `expected tasks with an oracle for ${recipe}, got none among ${tasks.length}`,
    )
  }
  const without = tasks.length - labelled.length
  const text = `${without} of ${tasks.length} tasks have no oracle and are not trained on`
  if (without > 0) emit({ type: 'notice', text })
  return labelled
}
