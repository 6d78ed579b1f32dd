import { z } from 'zod'
import { functionOption, objectOption, optionFacts, pathOption } from './option.js'

/** Something that was read already, or the path it is to be read from. */
export const listOption = () => z.union([pathOption(), z.custom<readonly object[]>((v) => Array.isArray(v))])

/** Where the numbers are computed. */
export const engineOptions = {
  device: z.enum(['cpu', 'cuda']).default('cpu').register(optionFacts, {
    section: 'Engine',
    about: 'where the model is computed',
    mayChange: 'rounding',
  }),
  threads: z.int().min(0).max(1024).default(0).register(optionFacts, {
    section: 'Engine',
    about: 'threads of the CPU engine; 0 takes one a core. No result depends on it',
    unit: 'threads',
    mayChange: 'freely',
  }),
  instructionSet: z.enum(['auto', 'avx512', 'avx2', 'portable']).default('auto').register(optionFacts, {
    section: 'Engine',
    about: 'instructions the CPU engine uses; auto takes the best this processor has',
    mayChange: 'rounding',
  }),
  weights: z.enum(['f32', 'bf16']).default('f32').register(optionFacts, {
    section: 'Engine',
    about:
      'what rollouts and models that are not trained read on the CPU; bf16 halves the memory traffic, and the first ratio of an update is then near 1 instead of exactly 1',
  }),
  memoryLimit: z
    .int()
    .min(0)
    .max(1 << 30)
    .default(0)
    .register(optionFacts, {
      section: 'Engine',
      about: 'memory the model may hold, activations and caches included; 0: what is free',
      unit: 'MiB',
      mayChange: 'freely',
    }),
}

/** Where a run's files go, and how it stops and goes on. */
export const runOptions = {
  output: pathOption().register(optionFacts, {
    section: 'Run',
    about: 'folder for checkpoints, metrics and trajectories',
    expects: 'the path of a folder',
    path: true,
    mayChange: 'freely',
  }),
  seed: z
    .int()
    .min(0)
    .default(0)
    .register(optionFacts, { section: 'Run', about: 'every random choice follows from it' }),
  resume: z.boolean().default(false).register(optionFacts, {
    section: 'Run',
    about: 'go on from the last complete checkpoint in the output folder',
    mayChange: 'freely',
  }),
  checkpointEvery: z.int().min(1).default(5).register(optionFacts, {
    section: 'Run',
    about: 'save a checkpoint each so many steps; the last step is always saved',
    unit: 'steps',
    mayChange: 'freely',
  }),
  keepLast: z.int().min(1).default(2).register(optionFacts, {
    section: 'Run',
    about: 'newest checkpoints kept; older ones are deleted once a newer one is complete',
    unit: 'checkpoints',
    mayChange: 'freely',
  }),
}

/** What a program may hand over instead of paths. Neither a file nor a flag can hold these. */
export const programOptions = {
  signal: objectOption<AbortSignal>().optional().register(optionFacts, {
    section: 'Run',
    about: 'stops the run after saving the last completed step',
    expects: 'an AbortSignal',
    programOnly: true,
    mayChange: 'freely',
  }),
  onEvent: functionOption<(event: never) => void>().optional().register(optionFacts, {
    section: 'Run',
    about: 'called with every step, evaluation, checkpoint and notice; without it they are printed',
    expects: 'a function',
    programOnly: true,
    mayChange: 'freely',
  }),
}

/** The update of the weights, in every recipe that trains. */
export const optimizerOptions = {
  betas: z
    .tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)])
    .default([0.9, 0.98])
    .register(optionFacts, { section: 'Update', about: 'decay of the two moments of AdamW' }),
  eps: z
    .number()
    .positive()
    .max(1)
    .default(1e-8)
    .register(optionFacts, { section: 'Update', about: 'added to the root of the second moment' }),
  weightDecay: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .register(optionFacts, { section: 'Update', about: 'decoupled weight decay, on every parameter' }),
  maxGradNorm: z
    .number()
    .positive()
    .default(1)
    .register(optionFacts, { section: 'Update', about: 'the gradient is scaled down to this global norm' }),
  warmupSteps: z.int().min(0).default(0).register(optionFacts, {
    section: 'Update',
    about: 'steps over which the learning rate rises from 0',
    unit: 'steps',
  }),
  microBatchTokens: z.int().min(1).default(16384).register(optionFacts, {
    section: 'Update',
    about: 'most tokens in one forward and backward pass; a longer sequence gets a pass of its own',
    unit: 'tokens',
    mayChange: 'rounding',
  }),
  recompute: z.boolean().default(false).register(optionFacts, {
    section: 'Update',
    about:
      "recompute each layer's activations in the backward pass, in much less memory; false: only where they do not fit",
    mayChange: 'freely',
  }),
}
