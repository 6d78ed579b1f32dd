import { z } from 'zod'
import { type OptionSet, optionFacts, type Shape } from '../config/option.js'
import { type SkillLab, skillLab } from '../environments/skill-lab/index.js'
import type { GivenOptions } from './command-options.js'

const environmentOption = {
  environment: z.enum(['skill-lab']).optional().register(optionFacts, {
    section: 'Model and data',
    about: 'a built-in environment; it brings agent, skills, tasks and fitting defaults',
    mayChange: 'freely',
  }),
}

/** A recipe's options and the one that names a built-in environment. */
export function withEnvironment<S extends Shape>(set: OptionSet<S>): OptionSet<typeof environmentOption & S> {
  return { ...set, shape: { ...environmentOption, ...set.shape } } as unknown as OptionSet<
    typeof environmentOption & S
  >
}

/** What the environment says where nothing else was given, for each recipe. */
export function labOptions(lab: SkillLab): Record<'train' | 'eval', Record<string, unknown>> {
  const { agent, skills, trainTasks, heldOutTasks, defaults } = lab
  const { tasks, ...evaluation } = defaults.eval
  return {
    train: { agent, skills, tasks: trainTasks, heldOut: heldOutTasks, evalTasks: tasks, ...defaults.rl },
    eval: { agent, skills, tasks: heldOutTasks, maxTasks: tasks, ...evaluation },
  }
}

/** The seed that was given, for the environment's own tasks; another kind of value is left for the option's check. */
export function seedOf({ options }: GivenOptions): number {
  return Number.isSafeInteger(options.seed) && (options.seed as number) >= 0 ? (options.seed as number) : 0
}

/**
 * Puts the environment's options beneath those given, where one is named.
 * @param shape the options there are, where not all of the environment's are
 */
export async function fillFromEnvironment(
  given: GivenOptions,
  recipe: 'train' | 'eval',
  shape?: Shape,
): Promise<GivenOptions> {
  if (given.options.environment !== 'skill-lab') return given
  const lab = await skillLab({ seed: seedOf(given) })
  const own = Object.entries(labOptions(lab)[recipe]).filter(([name]) => !shape || Object.hasOwn(shape, name))
  return { ...given, options: { ...Object.fromEntries(own), ...given.options } }
}
