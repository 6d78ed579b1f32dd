import { survivors } from '../../rollout/trajectory.js'
import { type CreditMethod, inFirstCall } from '../method.js'
import { skillgate } from './skillgate.js'

/**
 * skillgate, but calls that read again are execution. In skillgate no token of a read call but the skill's name has credit, so nothing says
 * whether to read at all; after the first read that question is part of doing the task, and the outcome answers it.
 */
export const skillgateOnce: CreditMethod = {
  ...skillgate,
  name: 'skillgate-once',
  readCalls: 'first excluded',
  actions(group) {
    const taking = survivors(group)
    return skillgate.actions(group).map((advantages, i) =>
      advantages.map((advantage, j) => {
        const { reads } = taking[i]!
        return inFirstCall(reads[j]!, reads) ? advantage : 0
      }),
    )
  },
}
