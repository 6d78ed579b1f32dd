import type { Prepared } from '../native-ops.js'
import { race } from './contender.js'
import { densityGate, gated, type Row } from './gates.js'
import type { Experiment, Setting } from './setting.js'

interface Shape {
  T: number
  D: number
  V: number
}

const text = ({ T, D, V }: Shape) => `T ${T}, D ${D}, V ${V.toLocaleString('en')}`

async function withUpdates<Result>(
  { ops }: Setting,
  specs: readonly { name: string; density: number; terms: 'all' | 'plain' }[],
  shape: Shape,
  body: (contenders: { name: string; run: () => ReturnType<typeof ops.run> }[]) => Promise<Result>,
): Promise<Result> {
  const prepared: Prepared[] = []
  try {
    for (const { density, terms } of specs) {
      prepared.push(await ops.prepare({ op: 'policy_loss', ...shape, density, terms }))
    }
    return await body(specs.map(({ name }, i) => ({ name, run: () => ops.run(prepared[i]!) })))
  } finally {
    for (const one of prepared) await ops.drop(one)
  }
}

/** C5: rows without weight cost nothing. */
export function densityExperiment(shape: Shape): Experiment {
  const densities = [0.1, 0.25, 0.5]
  return {
    name: `density ${text(shape)}`,
    minutes: 0.5 + (shape.T * shape.D * shape.V) / 4e10,
    run: (setting) => {
      const specs = [1, ...densities].map((density) => ({
        name: String(density),
        density,
        terms: 'all' as const,
      }))
      return withUpdates(setting, specs, shape, async (contenders) => {
        const result = await race(contenders, setting)
        return densities.map((density): Row => {
          const gate = densityGate(density)
          const [name, whole] = [String(density), '1']
          return {
            id: 'C5',
            gate,
            what: gate.text,
            shape: text(shape),
            value: result.ratio(name, whole),
            rounds: result.rounds,
            byCpu: result.cpuRatio(name, whole),
          }
        })
      })
    },
  }
}

/** C7: channels, KL and entropy cost per token, not per token and vocabulary entry. */
export function termsExperiment(shape: Shape): Experiment {
  return {
    name: `terms ${text(shape)}`,
    minutes: 0.5 + (shape.T * shape.D * shape.V) / 4e10,
    run: (setting) => {
      const specs = (['all', 'plain'] as const).map((terms) => ({ name: terms, density: 1, terms }))
      return withUpdates(setting, specs, shape, async (contenders) => {
        const result = await race(contenders, setting)
        const value = result.ratio('all', 'plain')
        const byCpu = result.cpuRatio('all', 'plain')
        return [gated('C7', { shape: text(shape), value, rounds: result.rounds, byCpu })]
      })
    },
  }
}
