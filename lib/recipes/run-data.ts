import { dataFingerprint, folderFingerprint } from '../checkpoint/fingerprint.js'
import type { Agent } from '../rollout/agent.js'
import {
  type OpenPolicy,
  openSkills,
  openTasks,
  type SkillSetting,
  type SlateCounts,
} from '../rollout/setting.js'
import type { Emit } from './events.js'
import type { RunPlan } from './run-start.js'
import type { SkillSource, Task } from './stage.js'

/** Options of training on tasks that hold functions or objects, with their types. */
export interface GivenToTraining {
  agent: string | Agent
  tasks: string | readonly Task[]
  heldOut?: string | readonly Task[]
  skills?: SkillSource
  openPolicy?: OpenPolicy
  onEvent?: Emit
}

export interface RunDataOptions extends SlateCounts, Pick<GivenToTraining, 'skills' | 'tasks' | 'heldOut'> {
  model: string
  evalEvery: number
  evalTasks: number
}

/** What a run on tasks reads, and what its plan says of that. */
export interface RunData extends Pick<RunPlan, 'inputs' | 'evaluation'> {
  skills: SkillSetting
  tasks: Task[]
  /** Empty where nothing is evaluated. */
  heldOut: Task[]
}

/** @throws ERR_MODEL_CONFIG, ERR_SKILLS, ERR_TASKS, ERR_SLATE */
export async function openRunData(options: RunDataOptions): Promise<RunData> {
  const { evalEvery, evalTasks } = options
  const skills = await openSkills(options.skills, options)
  const tasks = await openTasks(options.tasks, skills.library)
  const heldOut = evalEvery > 0 ? (await openTasks(options.heldOut!, skills.library)).slice(0, evalTasks) : []
  const inputs = {
    model: await folderFingerprint(options.model),
    tasks: dataFingerprint(tasks),
    ...(skills.library && { skills: dataFingerprint(skills.library.skills) }),
  }
  return { skills, tasks, heldOut, inputs, ...(evalEvery > 0 && { evaluation: { every: evalEvery } }) }
}
