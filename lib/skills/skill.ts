/** One SKILL.md: YAML front matter `name` and `description`, then the body an agent reads. */
export interface Skill {
  name: string
  description: string
  /** The path shown to the agent, e.g. `/skills/pdf-tables/SKILL.md`. */
  location: string
  /** The whole file, front matter included: what a read returns. */
  content: string
}

/** What a candidate is to a task. Never shown to the policy. */
export type SkillCategory = 'oracle' | 'relevant' | 'irrelevant' | 'misleading'
/** A read of a skill that is in the library but not in the slate is `unadvertised`. */
export type ReadCategory = SkillCategory | 'unadvertised'

export interface Candidate {
  skill: Skill
  /** Absent where the task has no label. */
  category?: SkillCategory
}

/** The candidates shown to the agent for one task, in the order shown. */
export interface Slate {
  candidates: readonly Candidate[]
  /** False where the task names no oracle. */
  labelled: boolean
}
