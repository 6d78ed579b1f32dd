import type { CreditMethod } from '../method.js'
import { grpo } from './grpo.js'

/** grpo on episodes without a slate in the prompt. Evaluation shows slates, so that reads are measured as for the other methods. */
export const skillFree: CreditMethod = { ...grpo, name: 'skill-free', slate: 'hidden' }
