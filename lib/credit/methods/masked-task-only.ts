import { type CreditMethod, noSelection } from '../method.js'
import { skillgate } from './skillgate.js'

/** skillgate without its selection channel: read calls have no policy gradient at all. */
export const maskedTaskOnly: CreditMethod = { ...skillgate, name: 'masked-task-only', actions: noSelection }
