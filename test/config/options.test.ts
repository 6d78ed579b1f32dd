import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkOptions, inspectOptions } from '../../lib/config/check.js'
import { describeOptions } from '../../lib/config/describe.js'
import { evalOptions } from '../../lib/config/eval-options.js'
import type { OptionSet } from '../../lib/config/option.js'
import { methodNames, rlOptions } from '../../lib/config/rl-options.js'
import { sftOptions } from '../../lib/config/sft-options.js'
import { SkillgateError } from '../../lib/errors.js'

const least = { model: 'm', agent: async () => 1, tasks: [{ id: 'a', prompt: 'b' }], output: 'out' }
const sets = [rlOptions, sftOptions, evalOptions] as unknown as OptionSet[]

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(SkillgateError)
    expect((error as SkillgateError).code).toBe('ERR_CONFIG')
    return (error as Error).message
  }
  throw new Error('expected an error')
}

describe('defaults', () => {
  it('are the published recipe', () => {
    expect(checkOptions(rlOptions, least)).toMatchObject({
      method: 'skillgate',
      groupsPerStep: 16,
      groupSize: 8,
      slateRelevant: 5,
      slateIrrelevant: 5,
      slateMisleading: 5,
      selectorCoefficient: 0.2,
      steps: 100,
      learningRate: 1e-6,
      schedule: 'constant',
      betas: [0.9, 0.98],
      weightDecay: 0.1,
      maxGradNorm: 1,
      clipLow: 0.2,
      clipHigh: 0.28,
      kl: 'k3',
      klCoefficient: 3e-5,
      temperature: 1,
      topP: 1,
      maxTurns: 30,
      maxTokens: 71_680,
      rolloutDeadline: 850,
      overSampling: 2,
      evalTopP: 0.7,
      checkpointEvery: 5,
    })
  })
  it('lie within their own range, and each option is described', () => {
    for (const set of sets) {
      for (const option of describeOptions(set.shape)) {
        expect(option.about, option.name).not.toBe('')
        if (option.default === undefined) continue
        expect(set.shape[option.name]!.safeParse(option.default).success, option.name).toBe(true)
      }
    }
  })
})

describe('problems', () => {
  it('are reported all at once, with the nearest right name', () => {
    const message = messageOf(() =>
      checkOptions(rlOptions, {
        ...least,
        groupSzie: 4,
        steps: 0,
        learningRate: 'fast',
        betas: [0.9],
        method: 'skilgate',
      }),
    )
    expect(message).toContain('5 problems in the options of train')
    expect(message).toContain('groupSzie: there is no such option; did you mean "groupSize"?')
    expect(message).toContain('steps: expected an integer from 1 to 10000000 (steps), got 0')
    expect(message).toContain('learningRate: expected a number above 0, to 1, got "fast" (text)')
    expect(message).toContain('betas: expected 2 values, each a number from 0 below 1, got [0.9]')
    expect(message).toContain(
      `method: expected one of ${methodNames.join(', ')}, got "skilgate" (text); did you mean "skillgate"?`,
    )
  })
  it('refuses what training cannot mean', () => {
    expect(messageOf(() => checkOptions(rlOptions, { ...least, temperature: 0 }))).toContain(
      'nothing to learn from',
    )
    expect(messageOf(() => checkOptions(rlOptions, { ...least, topP: 0.7 }))).toContain(
      'another distribution',
    )
    expect(checkOptions(evalOptions, { ...least, temperature: 0, topP: 0.5 })).toMatchObject({
      temperature: 0,
    })
  })
  it('names what a combination lacks', () => {
    const message = messageOf(() => checkOptions(rlOptions, { ...least, evalEvery: 5, warmupSteps: 101 }))
    expect(message).toContain('heldOut: expected tasks to evaluate on (evalEvery is 5)')
    expect(message).toContain('warmupSteps: expected at most the 100 steps')
  })
  it('names each required option that is missing', () => {
    const message = messageOf(() => checkOptions(rlOptions, {}))
    for (const name of ['model', 'agent', 'tasks', 'output']) expect(message).toContain(`${name}: expected`)
  })
  it('does not mistake what every object inherits for an option', () => {
    const given = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}')
    expect(inspectOptions(rlOptions, given).problems.map((p) => p.option)).toEqual(
      expect.arrayContaining(['__proto__', 'constructor', 'toString']),
    )
  })
})

describe('any input', () => {
  const wild = fc.oneof(
    fc.anything(),
    fc.constantFrom(
      Number.NaN,
      Number.POSITIVE_INFINITY,
      -1,
      1e308,
      '',
      '\0',
      2 ** 60,
      null,
      () => 1,
      [],
      {},
    ),
  )
  it('gives options within range or ERR_CONFIG naming the option, never another error', () => {
    for (const set of sets) {
      const names = fc.constantFrom(...Object.keys(set.shape))
      fc.assert(
        fc.property(fc.dictionary(fc.oneof(names, fc.string()), wild, { maxKeys: 6 }), (garbage) => {
          const { problems, options } = inspectOptions(set, { ...least, ...garbage })
          for (const name of Object.keys(garbage)) {
            const known = Object.hasOwn(set.shape, name)
            const right = known && set.shape[name]!.safeParse(garbage[name]).success
            expect(problems.some((problem) => problem.option === name) || right).toBe(true)
            if (known && !right) expect(Object.hasOwn(options, name)).toBe(false)
          }
        }),
        { numRuns: 150 },
      )
    }
  })
  it('that is no object is refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.integer())), (value) => {
        expect(messageOf(() => checkOptions(sftOptions, value))).toContain(
          'expected an object of options for sft',
        )
      }),
    )
  })
})
