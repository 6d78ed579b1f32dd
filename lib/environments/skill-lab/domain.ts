/** A skill that is right for the tasks its phrasings make. */
export interface LabSkill {
  name: string
  /** The misleading skill that looks most like it. */
  decoy: string
  /** Requests of training tasks, with `{file}` where the name of the task's file goes. */
  phrasings: readonly string[]
  /** Requests of held-out tasks. */
  heldOutPhrasings: readonly string[]
}

/** A field of work: its files, the skills that are right in it, and one that no training task ever shows. */
export interface Domain {
  name: string
  /** Extension of the files its tasks are about. */
  extension: string
  /** Domains whose skills may stand in a slate as relevant ones. */
  neighbours: readonly string[]
  skills: readonly LabSkill[]
  heldOutSkill: Omit<LabSkill, 'heldOutPhrasings'>
}

/** The misleading skills of a domain, one for each skill that is right. */
export function misleadingSkills(domain: Domain): string[] {
  return [...domain.skills, domain.heldOutSkill].map((skill) => skill.decoy)
}
