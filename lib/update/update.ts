import { SkillgateError } from '../errors.js'
import type { AccumulateResult, LossOptions, Policy, StepOptions } from '../policy/policy.js'
import { findNotFinite, findUnusable } from './finite.js'
import { type MicroBatch, type PackOptions, packMicroBatches, type TrainSequence } from './pack.js'
import { meanStatistics, PassRecorder, type PassStatistics } from './statistics.js'

export interface UpdateOptions extends LossOptions, StepOptions, PackOptions {
  /** Optimizer steps on the same batch; the behaviour logprobs stay those of the sampling. Default 1. */
  passes?: number
  signal?: AbortSignal
}

export interface UpdateStatistics extends PassStatistics {
  /** One entry a pass; the fields beside it are their means, and for `maxLogRatio` the largest. */
  passes: PassStatistics[]
  /** Optimizer steps taken. */
  steps: number
  /** Passes without a step because a loss or the gradient norm was not finite. */
  skippedSteps: number
  microBatches: number
  /** What the reader of a log should know: nothing to train on, where a number was not finite. */
  warnings: string[]
}

/**
 * One update: gradients of every micro-batch are summed, then one optimizer step, for each pass. `reference` is needed
 * where klCoefficient > 0. A batch in which every weight is 0 takes no step. A pass whose numbers are not finite takes
 * no step either and is counted; the place of the first one is in `warnings`.
 *
 * Errors: ERR_EMPTY_UPDATE (no tokens), ERR_NO_REFERENCE, ERR_INVALID_OPTION, ERR_ABORTED, and those of the policy;
 * after each the gradients are 0.
 */
export async function updatePolicy(
  policy: Policy,
  reference: Policy | null,
  sequences: readonly TrainSequence[],
  options: UpdateOptions,
): Promise<UpdateStatistics> {
  checkOptions(options)
  const useKl = (options.klCoefficient ?? 0) > 0
  if (useKl && reference === null) {
    throw new SkillgateError(
      'ERR_NO_REFERENCE',
      `expected a reference policy for klCoefficient ${options.klCoefficient}, got null`,
    )
  }
  if (sequences.every((s) => s.tokens.length === 0)) {
    throw new SkillgateError(
      'ERR_EMPTY_UPDATE',
      `expected tokens to train on, got ${sequences.length} empty sequences`,
    )
  }
  const weighted = useKl ? sequences : sequences.map((s) => ({ ...s, klWeight: undefined }))
  const packs = packMicroBatches(weighted, options)
  const warnings: string[] = []
  const passes: PassStatistics[] = []
  const result = (): UpdateStatistics => ({
    ...meanStatistics(passes),
    passes,
    steps: passes.filter((pass) => !pass.skipped).length,
    skippedSteps: passes.filter((pass) => pass.skipped).length,
    microBatches: packs.length,
    warnings,
  })
  if (packs.length === 0) {
    warnings.push('every weight is 0: loss 0, no optimizer step')
    return result()
  }
  const unusable = findUnusable(weighted)
  if (unusable !== undefined) {
    warnings.push(`${unusable}: no optimizer step`)
    passes.push(new PassRecorder().skipped())
    return result()
  }
  const pass: Pass = { policy, reference: useKl ? reference : null, packs, references: new Map(), warnings }
  try {
    for (let i = 0; i < (options.passes ?? 1); i++) {
      passes.push(await runPass(pass, options))
    }
  } catch (cause) {
    await policy.zeroGradients()
    throw cause
  }
  return result()
}

interface Pass {
  policy: Policy
  reference: Policy | null
  packs: readonly MicroBatch[]
  /** Reference logprobs, computed in the first pass. */
  references: Map<MicroBatch, Float32Array>
  warnings: string[]
}

async function runPass(pass: Pass, options: UpdateOptions): Promise<PassStatistics> {
  const { policy, reference, packs, warnings } = pass
  const { temperature, clipLow, clipHigh, dualClip, kl, klCoefficient, signal } = options
  const recorder = new PassRecorder()
  for (const pack of packs) {
    throwIfAborted(signal)
    const referenceLogprob = reference
      ? await referenceOf(pack, reference, pass.references, options)
      : undefined
    const { indices: _, ...arrays } = pack
    const loss = { temperature, clipLow, clipHigh, dualClip, kl, klCoefficient, referenceLogprob }
    const done = await policy.accumulate({ ...arrays, ...loss, signal })
    recorder.add(pack, done)
    const place = notFinite(pack, done, referenceLogprob)
    if (place === undefined) continue
    await policy.zeroGradients()
    warnings.push(`${place}: no optimizer step`)
    return recorder.skipped()
  }
  throwIfAborted(signal)
  const { learningRate, betas, eps, weightDecay, maxGradNorm } = options
  const { gradNorm, skipped } = await policy.step({ learningRate, betas, eps, weightDecay, maxGradNorm })
  if (skipped) warnings.push(`the gradient norm is ${gradNorm}: no optimizer step`)
  return skipped ? recorder.skipped(gradNorm) : recorder.stepped(gradNorm)
}

async function referenceOf(
  pack: MicroBatch,
  reference: Policy,
  known: Map<MicroBatch, Float32Array>,
  { temperature, signal }: UpdateOptions,
): Promise<Float32Array> {
  const { tokens, sequenceOffsets } = pack
  const wanted = Uint8Array.from(pack.klWeight, (weight) => (weight === 0 ? 0 : 1))
  const logprob =
    known.get(pack) ??
    (await reference.logprobs({ tokens, sequenceOffsets, temperature, wanted, signal })).logprob
  known.set(pack, logprob)
  return logprob
}

function notFinite(pack: MicroBatch, done: AccumulateResult, reference?: Float32Array): string | undefined {
  const hasKl = (t: number) => pack.klWeight[t] !== 0
  return (
    (reference && findNotFinite(pack, 'reference logprob', reference, hasKl)) ??
    findNotFinite(pack, 'logprob', done.logprob, (t) => pack.weight[t] !== 0 || hasKl(t)) ??
    (Number.isFinite(done.loss)
      ? undefined
      : `the loss of sequences ${pack.indices.join(', ')} is ${done.loss}`)
  )
}

function checkOptions({ temperature = 1, passes = 1, klCoefficient = 0 }: UpdateOptions): void {
  const expect = (ok: boolean, what: string, got: number) => {
    if (!ok) throw new SkillgateError('ERR_INVALID_OPTION', `expected ${what}, got ${got}`)
  }
  const at = 'temperature (at 0 no token has a gradient)'
  expect(
    Number.isFinite(temperature) && temperature > 0,
    `a number above 0 for the training ${at}`,
    temperature,
  )
  expect(Number.isSafeInteger(passes) && passes >= 1, 'an integer of at least 1 for passes', passes)
  expect(
    Number.isFinite(klCoefficient) && klCoefficient >= 0,
    'a number of at least 0 for klCoefficient',
    klCoefficient,
  )
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new SkillgateError('ERR_ABORTED', 'the update was aborted before its optimizer step', {
      cause: signal.reason,
    })
  }
}
