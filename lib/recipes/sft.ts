import { dataFingerprint, folderFingerprint } from '../checkpoint/fingerprint.js'
import { checkOptions } from '../config/check.js'
import { type SftOptions, type SftOptionsIn, sftOptions } from '../config/sft-options.js'
import { SkillgateError } from '../errors.js'
import { type Demonstration, loadDemonstrations } from '../rollout/demonstration.js'
import { DemonstrationOrder } from '../rollout/demonstration-order.js'
import { type OpenPolicy, openModelText, openNativePolicy } from '../rollout/setting.js'
import { learningRateSchedule } from '../update/schedule.js'
import { updatePolicy } from '../update/update.js'
import { printEvents } from './console.js'
import type { Emit } from './events.js'
import { heldOutLoss } from './held-out-loss.js'
import { RunFolder, type RunResult } from './run-folder.js'
import { countLossTokens, lossSequences, tokenizeDemonstrations } from './sft-data.js'
import { noUpdate, StepClock } from './step-figures.js'

/** Options that hold functions or objects, with their types. */
interface Given {
  demonstrations: string | readonly Demonstration[]
  heldOut?: string | readonly Demonstration[]
  openPolicy?: OpenPolicy
  onEvent?: Emit
}

export type SftConfig = Omit<SftOptionsIn, keyof Given> & Given
type Options = Omit<SftOptions, keyof Given> & Given

/**
 * Trains a model to say what the assistant says in demonstrations. Resuming and stopping are as in `train`.
 * @throws ERR_CONFIG, ERR_OUTPUT_EXISTS, ERR_CHECKPOINT_MISMATCH, ERR_DEMONSTRATIONS, and what reading the model throws
 */
export async function sft(config: SftConfig): Promise<RunResult> {
  const options = checkOptions(sftOptions, config) as Options
  const { seed, batchSize, microBatchTokens, signal } = options
  const emit = options.onEvent ?? printEvents()

  const source = await loadDemonstrations(options.demonstrations)
  const heldOutSource = options.heldOut === undefined ? [] : await loadDemonstrations(options.heldOut)
  const steps = Math.max(1, Math.ceil((options.epochs * source.length) / batchSize))
  const evaluation = heldOutSource.length > 0 ? { every: options.evalEvery } : undefined
  const inputs = { model: await folderFingerprint(options.model), demonstrations: dataFingerprint(source) }
  const run = await RunFolder.open(sftOptions, options, { recipe: 'sft', inputs, steps, evaluation }, emit)
  let state = run.start
  try {
    const text = await openModelText(options.model, new Date(state.startedAt))
    const policy = await run.openPolicy(options.openPolicy ?? openNativePolicy, options)
    const limits = { ...options, maxTokens: Math.min(options.maxTokens, policy.maxContext) }
    const demonstrations = await tokenizeDemonstrations(source, text, limits, emit)
    const heldOut = await tokenizeDemonstrations(heldOutSource, text, limits, emit)
    if (demonstrations.every(({ sequences }) => sequences.length === 0)) {
      throw new SkillgateError(
        'ERR_EMPTY_UPDATE',
        `expected demonstrations of at most ${limits.maxTokens} tokens, got none`,
      )
    }
    const rateOf = learningRateSchedule({ ...options, kind: options.schedule, totalSteps: steps })
    const order = new DemonstrationOrder(demonstrations, seed, state.data)
    const clock = new StepClock()
    for (;;) {
      if (run.evaluationDue(state)) {
        const loss = await heldOutLoss(policy, heldOut, microBatchTokens, signal)
        await run.writeMetrics('heldOutLoss', state.step, { loss })
        emit({ type: 'heldOutLoss', step: state.step, loss })
        state = { ...state, evaluated: state.step }
      }
      await run.saveIfDue(state)
      if (state.step >= steps) break

      const step = state.step + 1
      clock.begin()
      const left = Math.max(1, Math.round(options.epochs * demonstrations.length) - order.drawn)
      const batch = order.take(Math.min(batchSize, left)).map((place) => demonstrations[place]!)
      const sequences = lossSequences(batch)
      const learningRate = rateOf(state.step)
      const update =
        sequences.length === 0
          ? noUpdate('every demonstration is too long: no optimizer step')
          : await updatePolicy(policy, null, sequences, { ...options, learningRate })
      for (const warning of update.warnings) run.warn(`step ${step}: ${warning}`)

      const { updateSeconds, secondsLeft } = clock.end(steps - step)
      const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0)
      const { negativeLogprob: loss, gradNorm } = update
      const figures = {
        step,
        learningRate,
        loss,
        gradNorm,
        tokens,
        tokensPerSecond: tokens / updateSeconds,
        secondsLeft,
      }
      await run.writeMetrics('step', step, {
        ...figures,
        lossTokens: countLossTokens(batch),
        policyVersion: policy.version,
      })
      emit({ type: 'loss', figures: { ...figures, steps } })
      const skippedSteps = (state.counters.skippedSteps ?? 0) + (update.steps === 1 ? 0 : 1)
      state = { ...state, step, policyVersion: policy.version, data: order.state, counters: { skippedSteps } }
    }
    return run.result(state)
  } catch (error) {
    return await run.afterError(error, state)
  } finally {
    run.close()
  }
}
