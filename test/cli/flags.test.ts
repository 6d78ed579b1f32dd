import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFlags } from '../../lib/cli/flags.js'
import { rlOptions } from '../../lib/config/rl-options.js'

const parse = (...argv: string[]) => parseFlags(rlOptions.shape, argv, { config: { value: true } })

describe('parseFlags', () => {
  it('reads each form', () => {
    const { options, positionals, problems, help } = parse(
      ...[
        '--group-size',
        '4',
        '--learningRate=1e-5',
        '--resume',
        '--no-dynamic-sampling',
        '--betas',
        '0.9,0.95',
        '--config',
        'x.yaml',
      ],
      ...[
        '--recompute=false',
        '--read-tools',
        'open,view',
        '--clip-low',
        '-0.5',
        'word',
        '-h',
        '--',
        '--seed',
      ],
    )
    expect(options).toEqual({
      groupSize: 4,
      learningRate: 1e-5,
      resume: true,
      dynamicSampling: false,
      betas: [0.9, 0.95],
      config: 'x.yaml',
      recompute: false,
      readTools: ['open', 'view'],
      clipLow: -0.5,
    })
    expect({ positionals, problems, help }).toEqual({
      positionals: ['word', '--seed'],
      problems: [],
      help: true,
    })
  })

  it('leaves what is no number for the check', () => {
    expect(parse('--steps', 'ten', '--seed', '', '--resume=maybe').options).toEqual({
      steps: 'ten',
      seed: '',
      resume: 'maybe',
    })
  })

  it('names unknown flags and missing values, and goes on after them', () => {
    const { options, problems } = parse('--stesp', '5', '--seed', '--steps', '7', '--agent', '-x')
    expect(options).toEqual({ steps: 7 })
    expect(problems.map(({ option, text }) => `${option}: ${text}`)).toEqual([
      '--stesp: there is no such option; did you mean --steps?',
      '--seed: expected an integer of at least 0 after it, got nothing',
      expect.stringContaining('--agent: expected an async function'),
      expect.stringContaining('-x: there is no such option'),
    ])
  })

  it('takes no flag for what only a program can give', () => {
    expect(parse('--on-event', 'x').problems).toHaveLength(1)
    expect(parse('--signal=x').problems).toHaveLength(1)
  })

  it('survives any words, and knows no option that the shape has not', () => {
    const known = new Set([...Object.keys(rlOptions.shape), 'config'])
    const word = fc.oneof(
      fc.string(),
      fc.string().map((text) => `--${text}`),
      fc.constantFrom('--', '--no-', '--=', '--constructor', '--no-resume'),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
        const { options } = parse(...argv)
        for (const name of Object.keys(options)) expect(known.has(name)).toBe(true)
      }),
    )
  })
})
