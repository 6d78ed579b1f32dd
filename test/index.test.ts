import { expect, expectTypeOf, it } from 'vitest'
import type { methodNames } from '../lib/config/rl-options.js'
import type {
  Agent,
  EvaluateConfig,
  Measurement,
  RunResult,
  SftConfig,
  Task,
  TrainConfig,
} from '../lib/index.js'
import * as skillgate from '../lib/index.js'

it('the public contract is this list', () => {
  expect(Object.keys(skillgate).sort()).toEqual(
    [
      ...[
        'train',
        'sft',
        'selectionBc',
        'selectionDpo',
        'evaluate',
        'audit',
        'toolLoop',
        'findSkillReads',
        'kernels',
        'Policy',
        'SkillgateError',
      ],
      ...['skillLab', 'diagnose', 'measureTrials', 'measureChange', 'readTrajectories'],
      ...['Tokenizer', 'ChatTemplate', 'SkillLibrary', 'loadSkillLibrary', 'buildSlate'],
    ].sort(),
  )
})

it('configs take functions and arrays with their types, and leave out what has a default', () => {
  const agent: Agent = async ({ seed }) => seed
  const tasks: Task[] = []
  const config: TrainConfig = { model: 'm', output: 'o', agent, tasks }
  expectTypeOf(skillgate.train).toBeCallableWith(config)
  expectTypeOf(skillgate.train).returns.resolves.toEqualTypeOf<RunResult>()
  expectTypeOf<SftConfig['demonstrations']>().not.toBeAny()
  expectTypeOf<EvaluateConfig['topP']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<TrainConfig['topP']>().toEqualTypeOf<1 | undefined>()
  expectTypeOf<TrainConfig['method']>().toEqualTypeOf<(typeof methodNames)[number] | undefined>()
  expectTypeOf(skillgate.evaluate).returns.resolves.toEqualTypeOf<Measurement>()
  // @ts-expect-error: there is no such option
  const wrong: TrainConfig = { ...config, groupSzie: 4 }
  expect(wrong).toBeDefined()
})
