import { type Group, survivors } from '../../rollout/trajectory.js'
import { selectorAdvantage } from '../advantages.js'
import type { CreditMemory, CreditMethod } from '../method.js'
import { withContrasts, worthsOf } from '../worth.js'
import { skillgate } from './skillgate.js'

/**
 * skillgate without oracle labels: the utility of a read is the skill's estimated worth for the task (worth.ts). A second read of a skill
 * in one trajectory adds nothing and has utility 0. Reads of skills without enough evidence are left out: advantage 0, not in the mean.
 */
export const skillgateAuto: CreditMethod = {
  ...skillgate,
  name: 'skillgate-auto',
  labels: 'unused',
  actions(group: Group, memory: CreditMemory = []): Float64Array[] {
    const worths = worthsOf(group, memory)
    const utilities = survivors(group).map(({ reads }) =>
      reads.map(({ skill }, i) => {
        const again = reads.slice(0, i).some((earlier) => earlier.skill === skill)
        return again && worths.has(skill) ? 0 : worths.get(skill)
      }),
    )
    const counted = selectorAdvantage(utilities.map((all) => all.filter((utility) => utility !== undefined)))
    return utilities.map((all, i) => {
      const advantages = counted[i]![Symbol.iterator]()
      return Float64Array.from(all, (utility) => (utility === undefined ? 0 : advantages.next().value!))
    })
  },
  learn: (memory = [], groups) => withContrasts(memory, groups),
}
