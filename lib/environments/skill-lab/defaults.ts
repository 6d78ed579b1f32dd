import { MAX_TURN_TOKENS, maxTurns } from './agent.js'
import type { TaskOptions } from './tasks.js'

/** What a context of the environment needs at most, in tokens of its own tokenizer; a candidate takes up to 40, a run of steps 256. */
const maxTokens = ({ slateSize = 16, horizon = 1 }: TaskOptions) =>
  1024 + 40 * Math.max(0, slateSize - 16) + 256 * (horizon - 1)

/** Options that go with the environment and its model, for the recipes and the evaluation. */
export function defaultsFor(tasks: TaskOptions = {}) {
  const episode = {
    maxTurns: maxTurns(tasks.horizon),
    maxTokensPerTurn: MAX_TURN_TOKENS,
    maxTokens: maxTokens(tasks),
    rolloutDeadline: 120,
  }
  return {
    sft: {
      demonstrations: 9800,
      demonstrationsPerTask: 2,
      choicesOfSeven: 4,
      batchSize: 14,
      epochs: 1,
      learningRate: 3e-3,
      schedule: 'cosine',
      warmupSteps: 50,
      weightDecay: 0.01,
      maxTokens: maxTokens(tasks),
    },
    rl: {
      ...episode,
      groupsPerStep: 8,
      groupSize: 8,
      steps: 40,
      learningRate: 4e-4,
      weightDecay: 0,
      temperature: 1,
    },
    eval: { ...episode, tasks: 96, temperature: 1, topP: 0.7 },
  } as const
}
