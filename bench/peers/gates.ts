import type { Spread } from '../statistics.js'

export type GateId = 'C1' | 'C2' | 'C3' | 'C4' | 'C5' | 'C6' | 'C7' | 'C8' | 'M1'

/** A limit to stay above ('least') or below ('most'), and what to aim at. C5 has a limit for each density. */
export interface Gate {
  text: string
  kind: 'least' | 'most'
  gate: number
  goal?: number
}

export const gates: Record<Exclude<GateId, 'C5'>, Gate> = {
  C1: {
    text: 'three products of a BLAS at the compacted shapes / our whole update',
    kind: 'least',
    gate: 0.85,
    goal: 0.95,
  },
  C2: { text: 'useful FLOP/s of our update / FMA peak', kind: 'least', gate: 0.7, goal: 0.8 },
  C3: { text: 'PyTorch eager on all tokens / our update at 25% active', kind: 'least', gate: 4, goal: 6 },
  C4: {
    text: 'transformers, forward and backward of the whole model / ours',
    kind: 'least',
    gate: 1,
    goal: 1.5,
  },
  C6: {
    text: 'decode: tokens/s x bytes of weights / memory bandwidth',
    kind: 'least',
    gate: 0.6,
    goal: 0.85,
  },
  C7: {
    text: 'update with both channels, KL and entropy / plain cross entropy',
    kind: 'most',
    gate: 1.05,
    goal: 1.03,
  },
  C8: {
    text: '8 rollouts that share a prompt / one packed pass of as many tokens',
    kind: 'most',
    gate: 1.15,
    goal: 1.05,
  },
  M1: { text: 'most extra memory of the loss / (chunk x V x 4 bytes)', kind: 'most', gate: 2, goal: 1.2 },
}

export function densityGate(density: number): Gate {
  return {
    text: `update at ${100 * density}% of the rows / at 100%`,
    kind: 'most',
    gate: density + 0.05,
  }
}

/** One measured ratio. Without a gate it is there for comparison. */
export interface Row {
  id?: GateId
  gate?: Gate
  what: string
  shape: string
  value: Spread
  /** That the value is the median of. */
  rounds: number
  /** The ratio by processor time, where both sides have one. */
  byCpu?: number
  /** Why it is what it is: figures of the same run. */
  why?: string
}

export type Verdict = 'goal' | 'gate' | 'missed'

export function verdict(gate: Gate, value: number): Verdict {
  const meets = (limit: number) => (gate.kind === 'least' ? value >= limit : value <= limit)
  if (gate.goal !== undefined && meets(gate.goal)) return 'goal'
  return meets(gate.gate) ? 'gate' : 'missed'
}

/** A row of one of the gates with a single limit. */
export function gated(
  id: Exclude<GateId, 'C5'>,
  row: Omit<Row, 'id' | 'gate' | 'what'> & { what?: string },
): Row {
  const gate = gates[id]
  return { what: gate.text, ...row, id, gate }
}
