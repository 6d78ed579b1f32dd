import type { MaskTokensInput, MaskTokensResult, PolicyLossInput, PolicyLossResult } from './addon-types.js'
import { loadAddon } from './load-addon.js'
import { asSkillgateError, checkFields, nativeCall } from './native-call.js'

const maskFields = [
  'sequenceOffsets',
  'generated',
  'outcomeAdvantage',
  'reads',
  'selectorCoefficient',
  'readCalls',
]
const readFields = ['callStart', 'callEnd', 'identityStart', 'identityEnd', 'advantage']

/** The per-token fields and options of the loss. */
export const lossFields = [
  'advantage',
  'weight',
  'klWeight',
  'behaviourLogprob',
  'referenceLogprob',
  'temperature',
  'clipLow',
  'clipHigh',
  'dualClip',
  'kl',
  'klCoefficient',
]
/** How a device is opened. */
export const deviceFields = ['device', 'threads', 'instructionSet', 'precision', 'cublaslt']
const policyLossFields = [...lossFields, 'hidden', 'lmHead', 'shape', 'target', ...deviceFields]

/** The addon's computations that need no model. Errors are SkillgateErrors; the codes are listed in addon-types.ts. */
export const kernels = {
  /**
   * One advantage a sequence and a read action -> channel, advantage and absolute weights a token, normalised over the
   * whole batch. Synchronous: a few passes over the tokens.
   */
  maskTokens(input: MaskTokensInput): MaskTokensResult {
    checkFields('maskTokens', input, maskFields)
    checkFields('maskTokens.reads', input?.reads, readFields)
    return nativeCall(() => loadAddon().maskTokens(input))
  },

  /**
   * LM head, loss and gradients at the given hidden states: `loss = sum weight*pg(advantage) + klCoefficient * sum
   * klWeight*kl`, with its gradients for `hidden` and `lmHead`. Nothing it allocates grows with T x V.
   */
  async policyLoss(input: PolicyLossInput): Promise<PolicyLossResult> {
    checkFields('policyLoss', input, policyLossFields)
    try {
      return await loadAddon().policyLoss(input)
    } catch (error) {
      throw asSkillgateError(error)
    }
  },
}
