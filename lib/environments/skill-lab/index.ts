import type { Agent } from '../../rollout/agent.js'
import type { Skill } from '../../skills/skill.js'
import { labAgent } from './agent.js'
import { defaults } from './defaults.js'
import { demonstrate, type LabDemonstration } from './demonstrations.js'
import { loadLabLibrary } from './library.js'
import { createModel } from './model.js'
import { type LabTask, makeTasks } from './tasks.js'

export type { LabDemonstration } from './demonstrations.js'
export type { LabTask } from './tasks.js'

export interface SkillLabOptions {
  /** Every task follows from it. Default 0. */
  seed?: number
}

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
  defaults: typeof defaults
}

const TRAIN_TASKS = 1536
const HELD_OUT_TASKS = 192
const HELD_OUT_SKILL_TASKS = 96

/** Loads the environment. The same seed gives the same tasks. */
export async function skillLab({ seed = 0 }: SkillLabOptions = {}): Promise<SkillLab> {
  const library = await loadLabLibrary()
  const trainTasks = makeTasks('train', TRAIN_TASKS, seed)
  return {
    skills: library.skills.skills,
    trainTasks,
    heldOutTasks: makeTasks('held-out', HELD_OUT_TASKS, seed),
    heldOutSkillTasks: makeTasks('held-out-skill', HELD_OUT_SKILL_TASKS, seed),
    agent: labAgent(library.procedures, library.commandNames),
    demonstrations: (count, demonstrationSeed) =>
      demonstrate(library, trainTasks, {
        count,
        seed: demonstrationSeed,
        perTask: defaults.sft.demonstrationsPerTask,
        choicesOfSeven: defaults.sft.choicesOfSeven,
      }),
    createModel,
    defaults,
  }
}
