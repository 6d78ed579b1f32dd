import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import type { Addon, BuildInfo, DeviceOptions } from './addon-types.js'
import { loadedAddon } from './load-addon.js'
import { packageRoot, packageVersion } from './package-root.js'
import { describeSystem, type SystemFacts } from './system.js'

export interface Diagnosis {
  skillgate: string
  root: string
  system: SystemFacts
  cpu: { model: string; cores: number; memoryBytes: number }
  /** The binary, or why there is none. */
  addon: { file: string; build: BuildInfo } | { error: string }
  /** What the CPU backend runs on by default, or why it does not open. Absent without addon. */
  cpuBackend?: DeviceDiagnosis
  /** Each instruction set, and whether this processor has it. Empty without addon. */
  instructionSets: readonly { name: 'avx512' | 'avx2' | 'portable'; available: boolean }[]
  /** Absent without addon. */
  cudaBackend?: DeviceDiagnosis
  /** First line of the NVIDIA driver's own version file; absent where no driver is loaded. */
  nvidiaDriver?: string
  /** Whatever stands in the way of working well, a sentence each; empty: all is well. */
  problems: readonly string[]
}

export interface DeviceDiagnosis {
  works: boolean
  /** "cpu: avx512, 2 threads", or the reason it does not work. */
  text: string
}

/** The facts behind `skillgate doctor`. Never throws. */
export function diagnose(): Diagnosis {
  const problems: string[] = []
  const diagnosis: Diagnosis = {
    skillgate: packageVersion(),
    root: packageRoot(),
    system: describeSystem(),
    cpu: {
      model: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      memoryBytes: totalmem(),
    },
    addon: { error: '' },
    instructionSets: [],
    nvidiaDriver: nvidiaDriver(),
    problems,
  }
  try {
    const { addon, file } = loadedAddon()
    diagnosis.addon = { file, build: addon.buildInfo }
    diagnosis.cpuBackend = probe(addon, { device: 'cpu' })
    diagnosis.cudaBackend = probe(addon, { device: 'cuda' })
    diagnosis.instructionSets = (['avx512', 'avx2', 'portable'] as const).map((name) => ({
      name,
      available: probe(addon, { device: 'cpu', instructionSet: name }).works,
    }))
    if (!diagnosis.cpuBackend.works)
      problems.push(`The CPU backend does not open: ${diagnosis.cpuBackend.text}`)
    problems.push(...buildProblems(addon.buildInfo, diagnosis.skillgate))
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    diagnosis.addon = { error: text }
    problems.push(text)
  }
  return diagnosis
}

function probe(addon: Addon, options: DeviceOptions): DeviceDiagnosis {
  try {
    return { works: true, text: addon.describeDevice(options) }
  } catch (error) {
    return { works: false, text: error instanceof Error ? error.message : String(error) }
  }
}

function buildProblems(build: BuildInfo, version: string): string[] {
  const problems: string[] = []
  if (build.version !== version) {
    problems.push(
      `The binary was built for skillgate ${build.version}, the package is ${version}: npm rebuild skillgate`,
    )
  }
  if (!build.optimized) problems.push('The binary was built without optimisation: npm rebuild skillgate')
  if (build.sanitizer !== 'none')
    problems.push(`The binary was built with the ${build.sanitizer} sanitizer and is slow.`)
  return problems
}

function nvidiaDriver(): string | undefined {
  const file = '/proc/driver/nvidia/version'
  if (!existsSync(file)) return undefined
  try {
    return readFileSync(file, 'utf8').split('\n')[0]
  } catch {
    return undefined
  }
}
