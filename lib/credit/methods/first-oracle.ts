import { firstOracleUtility } from '../advantages.js'
import { type CreditMethod, selectionBy } from '../method.js'
import { skillgate } from './skillgate.js'

/** skillgate, but the first read of the oracle is rewarded even among other reads. */
export const firstOracle: CreditMethod = {
  ...skillgate,
  name: 'first-oracle',
  actions: selectionBy(firstOracleUtility),
}
