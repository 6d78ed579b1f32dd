import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { OpSpec, Prepared } from '../native-ops.js'
import { quantile, ratios, spread } from '../statistics.js'
import { type Contender, type Peer, preparePeer, type Race, race } from './contender.js'
import { gated, type Row } from './gates.js'
import { lossPhases } from './loss-phases.js'
import type { Experiment, Setting } from './setting.js'

export interface LossShape {
  T: number
  D: number
  V: number
  density: number
}

/** Who takes part: the products and eager PyTorch, or everyone. */
export type Field = 'few' | 'all'

const text = ({ T, D, V, density }: LossShape) =>
  `T ${T}, ${100 * density}% with loss, D ${D}, V ${V.toLocaleString('en')}`

/** C1, C2, C3 and M1 at one shape, and how the other implementations compare there. */
export function lossExperiment(shape: LossShape, field: Field): Experiment {
  const others = field === 'few' ? 2.9e-11 : shape.density === 1 ? 1.2e-10 : 1e-10
  const minutes = 0.9 + shape.T * shape.D * shape.V * others
  return { name: `loss ${text(shape)}`, minutes, run: (setting) => runLoss(setting, shape, field) }
}

async function runLoss(setting: Setting, shape: LossShape, field: Field): Promise<Row[]> {
  const { ops, machine } = setting
  const folders = { all: join(setting.scratch, 'all'), plain: join(setting.scratch, 'plain') }
  const ours: Prepared[] = []
  const peers: Peer[] = []
  const prepare = async (terms: 'all' | 'plain') => {
    mkdirSync(folders[terms], { recursive: true })
    const spec: OpSpec = { op: 'policy_loss', ...shape, terms, folder: folders[terms] }
    const prepared = await ops.prepare(spec)
    ours.push(prepared)
    return { prepared, result: await ops.result(prepared) }
  }
  try {
    setting.show('computing what the others must agree with')
    const update = await prepare('all')
    const loss = { loss: Number(update.result.loss) }
    const join = async (contender: string, rows: 'all' | 'active', terms: 'all' | 'plain') => {
      setting.show(`checking ${contender}`)
      const { worker } = contender === 'openblas' ? setting.blas : setting.torch
      const peer = await preparePeer(
        worker,
        contender,
        { ...shape, rows, folder: folders[terms] },
        terms === 'all' ? loss : { loss: await crossEntropy() },
      )
      peers.push({ ...peer, name: `${contender}, ${rows}` })
    }
    let plain: Awaited<ReturnType<typeof prepare>> | undefined
    const crossEntropy = async () => Number(plain!.result.cross_entropy)
    await join('openblas', 'active', 'all')
    await join('mkl', 'active', 'all')
    await join('eager', 'all', 'all')
    if (shape.density < 1) await join('eager', 'active', 'all')
    if (field === 'all') {
      await join('compiled', 'all', 'all')
      await join('trl', 'all', 'all')
      plain = await prepare('plain')
      await join('cross_entropy', 'all', 'plain')
      await join('linear_cross_entropy', 'all', 'plain')
    }
    const contenders: Contender[] = [
      { name: 'peak', run: () => ops.run(machine.peak) },
      { name: 'ours', run: () => ops.run(update.prepared) },
      ...peers,
    ]
    const { prepared: plainUpdate } = plain ?? {}
    if (plainUpdate) contenders.push({ name: 'ours, plain', run: () => ops.run(plainUpdate) })
    const result = await race(contenders, setting)
    const why = await lossPhases(setting, shape, update.prepared)
    return rows(setting, shape, result, update, peers, why)
  } finally {
    for (const prepared of ours) await ops.drop(prepared)
    for (const peer of peers) await peer.drop()
    for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true })
  }
}

const titles: Record<string, string> = {
  openblas: 'OpenBLAS, three products',
  mkl: 'MKL (through PyTorch), three products',
  eager: 'PyTorch eager',
  compiled: 'PyTorch compiled',
  trl: "TRL's GRPO loss",
  cross_entropy: 'PyTorch eager, plain cross entropy',
  linear_cross_entropy: 'PyTorch F.linear_cross_entropy in chunks of 256 rows',
}

function rows(
  setting: Setting,
  shape: LossShape,
  result: Race,
  update: { prepared: Prepared; result: Record<string, unknown> },
  peers: readonly Peer[],
  why: string,
): Row[] {
  const where = text(shape)
  const peak = result.ns('peak').map((ns) => setting.machine.peak.flop / ns)
  setting.peaks.push(...peak)
  const flops = result.ns('ours').map((ns) => update.prepared.flop / ns)
  const cpuShare = quantile(
    ratios(
      result.cpuNs('peak').map((ns) => 1 / ns),
      result.cpuNs('ours').map((ns) => 1 / ns),
    ),
    0.5,
  )
  const out: Row[] = [
    gated('C2', {
      shape: where,
      value: spread(ratios(flops, peak)),
      rounds: result.rounds,
      byCpu: update.prepared.flop / setting.machine.peak.flop / cpuShare,
      why: `${quantile(flops, 0.5).toFixed(0)} of ${quantile(peak, 0.5).toFixed(0)} GFLOP/s; ${why}`,
    }),
  ]
  for (const { name } of peers) {
    const [contender, tokens] = name.split(', ') as [string, string]
    const own = contender.endsWith('cross_entropy') ? 'ours, plain' : 'ours'
    const measured = {
      shape: where,
      value: result.ratio(name, own),
      rounds: result.rounds,
      byCpu: result.cpuRatio(name, own),
      what: `${titles[contender]}${tokens === 'active' || shape.density === 1 ? '' : ' on all tokens'} / ours`,
    }
    if (contender === 'openblas' || contender === 'mkl') out.push(gated('C1', { ...measured, why }))
    else if (contender === 'eager' && tokens === 'all' && shape.density === 0.25)
      out.push(gated('C3', measured))
    else out.push(measured)
  }
  const { extra_bytes: extra, chunk_rows: chunk } = update.result as {
    extra_bytes?: number
    chunk_rows: number
  }
  if (extra !== undefined) {
    const least = chunk * shape.V * 4
    const value = extra / least
    out.push(
      gated('M1', {
        shape: where,
        value: { median: value, low: value, high: value },
        rounds: 1,
        why: `${(extra / 1e6).toFixed(1)} MB for chunks of ${chunk} rows (${(least / 1e6).toFixed(1)} MB)`,
      }),
    )
  }
  return out
}
