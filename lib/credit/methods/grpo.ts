import { type CreditMethod, noSelection } from '../method.js'
import { skillgate } from './skillgate.js'

/** One channel: the outcome advantage on every generated token, read calls included. */
export const grpo: CreditMethod = {
  ...skillgate,
  name: 'grpo',
  readCalls: 'included',
  labels: 'unused',
  actions: noSelection,
}
