import type { Agent } from '../../rollout/agent.js'
import type { Skill } from '../../skills/skill.js'
import { labAgent, maxTurns } from './agent.js'
import { defaultsFor } from './defaults.js'
import { demonstrate, type LabDemonstration } from './demonstrations.js'
import { withoutLabels, withWrongLabels } from './labels.js'
import { loadLabLibrary } from './library.js'
import { createModel } from './model.js'
import { checkLabOptions, type SkillLabOptions } from './options.js'
import { type LabTask, makeTasks } from './tasks.js'

export type { LabDemonstration } from './demonstrations.js'
export type { SkillLabOptions } from './options.js'
export type { LabTask } from './tasks.js'

/** The built-in environment: everything a run needs, and small enough to watch a model learn in minutes. */
export interface SkillLab {
  /** 120 skills of 12 domains: 24 that training tasks need, 24 beside them, 12 held out, 60 that mislead. */
  skills: readonly Skill[]
  trainTasks: readonly LabTask[]
  /** Other phrasings and files; the same skills. */
  heldOutTasks: readonly LabTask[]
  /** Tasks whose right skill no training task has shown. */
  heldOutSkillTasks: readonly LabTask[]
  agent: Agent
  /** `count` conversations of the imperfect teacher over the training tasks. */
  demonstrations(count: number, seed: number): LabDemonstration[]
  /** Writes a small Qwen3 model with random weights into a folder. */
  createModel(dir: string, seed: number): Promise<void>
  /** Options that go with the environment. */
  defaults: ReturnType<typeof defaultsFor>
}

const TRAIN_TASKS = 1536
const HELD_OUT_TASKS = 192
const HELD_OUT_SKILL_TASKS = 96

/**
 * Loads the environment. The same options give the same tasks.
 * @throws ERR_SKILL_LAB for an option out of its range
 */
export async function skillLab(options: SkillLabOptions = {}): Promise<SkillLab> {
  const { seed, slateSize, horizon, commandFailures, wrongLabels, missingLabels } = checkLabOptions(options)
  const library = await loadLabLibrary()
  const procedures = repeated(library.procedures, horizon)
  const defaults = defaultsFor({ slateSize, horizon })
  const taught = makeTasks('train', TRAIN_TASKS, seed, { slateSize, horizon, commandFailures })
  const labelled = withWrongLabels(taught, wrongLabels, seed)
  return {
    skills: library.skills.skills,
    trainTasks: withoutLabels(labelled, missingLabels, seed),
    heldOutTasks: makeTasks('held-out', HELD_OUT_TASKS, seed, { slateSize, horizon }),
    heldOutSkillTasks: makeTasks('held-out-skill', HELD_OUT_SKILL_TASKS, seed, { slateSize, horizon }),
    agent: labAgent(procedures, library.commandNames, maxTurns(horizon)),
    demonstrations: (count, demonstrationSeed) =>
      demonstrate(library, taught, {
        count,
        seed: demonstrationSeed,
        perTask: defaults.sft.demonstrationsPerTask,
        choicesOfSeven: defaults.sft.choicesOfSeven,
        slateSizes: [4, slateSize],
        horizon,
      }),
    createModel,
    defaults,
  }
}

function repeated(procedures: ReadonlyMap<string, readonly string[]>, times: number) {
  return new Map(
    Array.from(procedures, ([name, commands]) => [
      name,
      Array.from({ length: times }, () => commands).flat(),
    ]),
  )
}
