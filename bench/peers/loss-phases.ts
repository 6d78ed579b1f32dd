import type { OpSpec, Prepared } from '../native-ops.js'
import { quantile, ratios } from '../statistics.js'
import { race } from './contender.js'
import type { LossShape } from './loss.js'
import type { Setting } from './setting.js'

const rounds = 5
const percent = (share: number) => `${(100 * share).toFixed(0)}%`

/** Where an update's time goes: our own three products alone, packing the head, and what is left for softmax and loss. */
export async function lossPhases(setting: Setting, shape: LossShape, update: Prepared): Promise<string> {
  const { ops, machine } = setting
  const R = Math.floor(shape.T * shape.density)
  const specs: Record<string, OpSpec> = {
    logits: { op: 'matmul', pass: 'forward', T: R, N: shape.V, K: shape.D },
    dHidden: { op: 'matmul', pass: 'input', T: R, N: shape.V, K: shape.D },
    dLmHead: { op: 'matmul', pass: 'weight', T: R, N: shape.V, K: shape.D },
    pack: { op: 'matmul', pass: 'pack', T: 1, N: shape.V, K: shape.D },
  }
  const cases: { name: string; prepared: Prepared }[] = []
  try {
    for (const [name, spec] of Object.entries(specs)) cases.push({ name, prepared: await ops.prepare(spec) })
    const all = [...cases, { name: 'update', prepared: update }, { name: 'peak', prepared: machine.peak }]
    const contenders = all.map(({ name, prepared }) => ({ name, run: () => ops.run(prepared) }))
    const result = await race(contenders, {
      ...{ rounds, deadline: 0 },
      show: (text) => setting.show(`phases: ${text}`),
    })
    const share = (name: string) => quantile(ratios(result.cpuNs(name), result.cpuNs('update')), 0.5)
    const ofPeak = (name: string) => {
      const peak = result.cpuNs('peak').map((ns) => machine.peak.flop / ns)
      const flops = result.cpuNs(name).map((ns) => cases.find((c) => c.name === name)!.prepared.flop / ns)
      return quantile(ratios(flops, peak), 0.5)
    }
    const products = ['logits', 'dHidden', 'dLmHead']
    const sum = products.reduce((total, name) => total + share(name), 0)
    const each = products.map((name) => `${name} ${percent(ofPeak(name))}`).join(', ')
    const rest = Math.max(0, 1 - sum - share('pack'))
    return `our products alone ${percent(sum)} of the time (of peak: ${each}), packing ${percent(share('pack'))}, rest ${percent(rest)}`
  } finally {
    for (const { prepared } of cases) await ops.drop(prepared)
  }
}
