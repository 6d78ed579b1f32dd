import { methodNames } from '../config/rl-options.js'
import { selectionBcOptions, selectionDpoOptions } from '../config/selection-options.js'
import { type TrainConfig, train } from './rl.js'
import type { RunResult } from './run-folder.js'
import { selectionBc } from './selection-bc.js'
import { selectionDpo } from './selection-dpo.js'

/** Every way there is to go on from a model that was taught by demonstrations. */
export const trainingMethods = [...methodNames, 'selection-bc', 'selection-dpo'] as const
export type TrainingMethod = (typeof trainingMethods)[number]

/**
 * Trains by any method with the options of `train`, so that methods can be compared on equal terms: `selection-bc` and `selection-dpo` take
 * those of them that they have (model, tasks, tasks in a step, steps, learning rate, evaluation ...), and their own where given.
 * @throws what the recipe throws
 */
export function trainMethod(
  method: TrainingMethod,
  config: Omit<TrainConfig, 'method'> & { beta?: number; against?: 'misleading' | 'distractors' },
): Promise<RunResult> {
  if (method === 'selection-bc') return selectionBc(known(config, selectionBcOptions.shape))
  if (method === 'selection-dpo') return selectionDpo(known(config, selectionDpoOptions.shape))
  return train({ ...config, method })
}

function known<C extends object>(config: C, shape: object): C {
  return Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(shape, name))) as C
}
