import { SkillgateError } from '../../errors.js'
import type { TaskOptions } from './tasks.js'

export interface SkillLabOptions extends Omit<TaskOptions, 'commandFailures'> {
  /** Every task follows from it. Default 0. */
  seed?: number
  /** Share of the training tasks whose label names a skill that is not right, 0 to 1. Default 0. */
  wrongLabels?: number
  /** Of a training episode: the probability that a command breaks unseen, and with it the episode, 0 to 1. Default 0. */
  commandFailures?: number
  /** Share of the training tasks without a label, 0 to 1. Default 0. */
  missingLabels?: number
}

/** The options, defaults filled in. */
export function checkLabOptions(options: SkillLabOptions): Required<SkillLabOptions> {
  const {
    seed = 0,
    slateSize = 16,
    horizon = 1,
    commandFailures = 0,
    wrongLabels = 0,
    missingLabels = 0,
  } = options
  expectNumber('slateSize', slateSize, 4, 64, true)
  expectNumber('horizon', horizon, 1, 8, true)
  expectNumber('commandFailures', commandFailures, 0, 1, false)
  expectNumber('wrongLabels', wrongLabels, 0, 1, false)
  expectNumber('missingLabels', missingLabels, 0, 1, false)
  return { seed, slateSize, horizon, commandFailures, wrongLabels, missingLabels }
}

function expectNumber(name: string, got: number, low: number, high: number, whole: boolean): void {
  if (got >= low && got <= high && (!whole || Number.isInteger(got))) return
  const kind = whole ? 'an integer' : 'a number'
  throw new SkillgateError('ERR_SKILL_LAB', `expected ${kind} from ${low} to ${high} for ${name}, got ${got}`)
}
