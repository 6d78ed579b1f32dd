import { SkillgateError } from '../errors.js'
import { ChatTemplate } from '../policy/chat-template.js'
import { NativePolicy } from '../policy/native-policy.js'
import type { Policy } from '../policy/policy.js'
import { Tokenizer } from '../policy/tokenizer.js'
import { loadSkillLibrary, SkillLibrary } from '../skills/library.js'
import type { Skill, Slate } from '../skills/skill.js'
import { buildSlate } from '../skills/slate.js'
import { DataPosition, type DataState } from '../tasks/data-position.js'
import { loadTasks } from '../tasks/dataset.js'
import type { Task } from '../tasks/task.js'

/** How a model reads and writes: its tokenizer and its chat template. */
export interface ModelText {
  tokenizer: Tokenizer
  template: ChatTemplate
}

/** @param now what the template's clock says */
export async function openModelText(dir: string, now?: Date): Promise<ModelText> {
  const [tokenizer, template] = await Promise.all([Tokenizer.load(dir), ChatTemplate.load(dir, { now })])
  return { tokenizer, template }
}

export interface PolicyOptions {
  device?: 'cpu' | 'cuda'
  /** 0: one a core. */
  threads?: number
  instructionSet?: 'auto' | 'avx512' | 'avx2' | 'portable'
  trainable?: boolean
  recompute?: boolean
  /** What generation, and a policy that is not trainable, reads. */
  weights?: 'f32' | 'bf16'
  /** MiB; 0: what is free. */
  memoryLimit?: number
}

/** Opens the policy of a Hugging Face folder. */
export type OpenPolicy = (dir: string, options: PolicyOptions) => Promise<Policy>

/** The built-in engine. */
export const openNativePolicy: OpenPolicy = (dir, options) => {
  const { device, threads, instructionSet = 'auto', trainable, recompute, weights, memoryLimit = 0 } = options
  return NativePolicy.load(dir, {
    device,
    threads,
    instructionSet: instructionSet === 'auto' ? '' : instructionSet,
    trainable,
    recompute,
    weights,
    memoryLimit: memoryLimit * 2 ** 20,
  })
}

export interface SlateCounts {
  slateRelevant: number
  slateIrrelevant: number
  slateMisleading: number
}

/** The skills of a run, and the slate of each of its tasks. */
export interface SkillSetting {
  /** Absent: no slate is shown and no skill can be read. */
  library?: SkillLibrary
  slateFor(task: Task, seed: number): Slate
}

/** Shows no skills. */
export const noSlate = (): Slate => ({ candidates: [], labelled: false })

/** @param skills a folder tree of SKILL.md files, or the skills themselves */
export async function openSkills(
  skills: string | readonly Skill[] | undefined,
  counts: SlateCounts,
): Promise<SkillSetting> {
  if (skills === undefined) return { slateFor: noSlate }
  const library = typeof skills === 'string' ? await loadSkillLibrary(skills) : new SkillLibrary(skills)
  const { slateRelevant: relevant, slateIrrelevant: irrelevant, slateMisleading: misleading } = counts
  return {
    library,
    slateFor: (task, seed) => buildSlate(library, task, { relevant, irrelevant, misleading, seed }),
  }
}

/**
 * Tasks of a JSONL file, or those given, checked; where there is a library, the skills they name are in it.
 * @throws ERR_TASKS, ERR_SLATE naming every unknown skill
 */
export async function openTasks(source: string | readonly Task[], library?: SkillLibrary): Promise<Task[]> {
  const tasks = await loadTasks(source)
  if (library === undefined) return tasks
  const unknown = tasks.flatMap(({ id, oracle = [], misleading = [], slate = {} }) =>
    [...oracle, ...misleading, ...Object.values(slate).flat()]
      .filter((name) => library.byName(name) === undefined)
      .map((name) => `task "${id}": there is no skill "${name}"`),
  )
  if (unknown.length === 0) return tasks
  const listed = unknown.slice(0, LISTED)
  if (unknown.length > LISTED) listed.push(`and ${unknown.length - LISTED} more`)
  throw new SkillgateError(
    'ERR_SLATE',
    `tasks name skills that are not in the library\n  ${listed.join('\n  ')}`,
  )
}

/** How many problems one error lists; the rest are counted. */
const LISTED = 50

/** Draws tasks for ever, from where `state` says. */
export const drawTasks = (tasks: readonly Task[], seed: number, state: DataState): DataPosition =>
  new DataPosition(tasks, { seed, state })
