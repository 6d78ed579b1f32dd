import { SkillgateError } from '../../errors.js'
import type { CreditMethod } from '../method.js'
import { firstOracle } from './first-oracle.js'
import { grpo } from './grpo.js'
import { maskedTaskOnly } from './masked-task-only.js'
import { skillFree } from './skill-free.js'
import { skillgate } from './skillgate.js'
import { skillgateAuto } from './skillgate-auto.js'
import { skillgateOnce } from './skillgate-once.js'
import { trajectoryBonus } from './trajectory-bonus.js'

export const creditMethods: readonly CreditMethod[] = [
  skillgate,
  skillgateAuto,
  skillgateOnce,
  grpo,
  skillFree,
  maskedTaskOnly,
  firstOracle,
  trajectoryBonus,
]

/** The built-in method of that name. */
export function creditMethod(name: string): CreditMethod {
  const method = creditMethods.find((m) => m.name === name)
  if (method) return method
  const known = creditMethods.map((m) => m.name).join(', ')
  throw new SkillgateError('ERR_UNKNOWN_METHOD', `expected a credit method (${known}), got '${name}'`)
}
