import { survivors } from '../../rollout/trajectory.js'
import { cleanOracleUtility, outcomeAdvantage } from '../advantages.js'
import { type CreditMethod, selectionBy } from '../method.js'

/** Outcome credit for executing, clean-oracle credit for choosing; read calls have the second only. */
export const skillgate: CreditMethod = {
  name: 'skillgate',
  readCalls: 'excluded',
  labels: 'needed',
  outcome: (group) => outcomeAdvantage(survivors(group).map((t) => t.reward)),
  actions: selectionBy(cleanOracleUtility),
}
