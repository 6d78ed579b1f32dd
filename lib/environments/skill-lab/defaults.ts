import { MAX_TURN_TOKENS, MAX_TURNS } from './agent.js'

/** What a context of the environment needs at most, in tokens of its own tokenizer. */
const MAX_TOKENS = 1024

const episode = {
  maxTurns: MAX_TURNS,
  maxTokensPerTurn: MAX_TURN_TOKENS,
  maxTokens: MAX_TOKENS,
  rolloutDeadline: 120,
}

/** Options that go with the environment and its model, for the recipes and the evaluation. */
export const defaults = {
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
    maxTokens: MAX_TOKENS,
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
