import type { Machine } from '../measure-ops.js'
import type { NativeOps } from '../native-ops.js'
import type { Pace } from './contender.js'
import type { Row } from './gates.js'
import type { PeerProcess } from './python.js'

/** What every experiment gets. */
export interface Setting extends Pace {
  ops: NativeOps
  machine: Machine
  /** numpy alone: its OpenBLAS has a pool of threads of its own. */
  blas: PeerProcess
  torch: PeerProcess
  threads: number
  /** A folder for what the contenders share, removed at the end. */
  scratch: string
  /** The machine's limits, round by round over the whole run. */
  peaks: number[]
  bandwidths: number[]
}

export interface Experiment {
  name: string
  /** Minutes on two quiet cores: its share of the time there is. */
  minutes: number
  run(setting: Setting): Promise<Row[]>
}
