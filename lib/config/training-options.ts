import { z } from 'zod'
import { optionFacts, type Rule } from './option.js'
import { listOption, optimizerOptions, runOptions } from './shared-options.js'

/** What a model is trained on and measured with, where episodes are played. */
export const taskOptions = {
  tasks: listOption().register(optionFacts, {
    section: 'Model and data',
    about: 'training tasks: one JSON object a line, with id, prompt and (for a slate) oracle',
    expects: 'the path of a JSONL file, or an array of tasks',
    path: true,
    mayChange: 'freely',
  }),
  heldOut: listOption().optional().register(optionFacts, {
    section: 'Model and data',
    about: 'tasks for evaluation, in the same form; none of them is trained on',
    expects: 'the path of a JSONL file, or an array of tasks',
    path: true,
    mayChange: 'freely',
  }),
}

/** The size of a step. */
export const groupsPerStep = z.int().min(1).max(4096).default(16).register(optionFacts, {
  section: 'Method',
  about: 'tasks in a step',
  unit: 'groups',
})

/** The learning rate over the steps of a run. */
export const rateOptions = {
  learningRate: z.number().positive().max(1).default(1e-6).register(optionFacts, {
    section: 'Update',
    about: 'learning rate after warm-up',
  }),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('constant').register(optionFacts, {
    section: 'Update',
    about: 'how the learning rate goes on after warm-up; linear and cosine end at 0 with the last step',
  }),
}

/** Evaluation on held-out tasks in the course of a run. */
export const evaluationOptions = {
  evalEvery: z.int().min(0).default(0).register(optionFacts, {
    section: 'Evaluation',
    about: 'evaluate on heldOut each so many steps; 0 never',
    unit: 'steps',
    mayChange: 'freely',
  }),
  evalTasks: z.int().min(1).default(64).register(optionFacts, {
    section: 'Evaluation',
    about: 'the first so many held-out tasks are used',
    unit: 'tasks',
    mayChange: 'freely',
  }),
  evalTrials: z.int().min(1).max(1024).default(1).register(optionFacts, {
    section: 'Evaluation',
    about: 'rollouts of each task',
    unit: 'rollouts',
    mayChange: 'freely',
  }),
  evalTemperature: z.number().min(0).max(100).default(1).register(optionFacts, {
    section: 'Evaluation',
    about: 'sampling temperature; 0 takes the most likely token',
    mayChange: 'freely',
  }),
  evalTopP: z.number().positive().max(1).default(0.7).register(optionFacts, {
    section: 'Evaluation',
    about: 'keep the smallest set of tokens whose probability reaches this',
    mayChange: 'freely',
  }),
  keepBest: z.enum(['none', 'success', 'reward', 'oracleRead']).default('none').register(optionFacts, {
    section: 'Evaluation',
    about: 'also keep the checkpoint that was best by this figure of the evaluation',
    mayChange: 'freely',
  }),
}

/** A run of a number of steps. */
export const stepOptions = {
  ...runOptions,
  steps: z.int().min(1).max(10_000_000).default(100).register(optionFacts, {
    section: 'Run',
    about: 'optimizer steps in all',
    unit: 'steps',
    mayChange: 'freely',
  }),
}

const shape = { ...taskOptions, ...rateOptions, ...optimizerOptions, ...evaluationOptions, ...stepOptions }

/** What these options ask of each other. */
export const trainingRules: readonly Rule<typeof shape>[] = [
  (o) =>
    o.evalEvery && o.heldOut === undefined
      ? `heldOut: expected tasks to evaluate on (evalEvery is ${o.evalEvery}), got nothing`
      : undefined,
  (o) =>
    o.keepBest && o.keepBest !== 'none' && o.evalEvery === 0
      ? `evalEvery: expected at least 1 (keepBest is "${o.keepBest}"), got 0`
      : undefined,
  (o) =>
    o.warmupSteps !== undefined && o.steps !== undefined && o.warmupSteps > o.steps
      ? `warmupSteps: expected at most the ${o.steps} steps of the run, got ${o.warmupSteps}`
      : undefined,
]
