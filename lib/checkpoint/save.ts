import { join } from 'node:path'
import { SkillgateError } from '../errors.js'
import { diskFiles, type Files, filesBelow } from './files.js'
import { type Checkpoint, checkpointName, checkpointsFolder, isComplete, markerName } from './find.js'
import type { RunState } from './state.js'

/** What a checkpoint needs of a policy. */
export interface SavedPolicy {
  readonly parameters: readonly { name: string; shape: readonly number[] }[]
  parameter(name: string): Promise<Float32Array>
  save(dir: string): Promise<void>
  saveOptimizer(file: string): Promise<void>
}

export interface SaveRequest {
  output: string
  policy: SavedPolicy
  state: RunState
  config: Record<string, unknown>
}

/**
 * Writes checkpoint `state.step`: everything in a folder aside, synced; then the marker; then the folder gets its name. Killed at
 * any moment, it leaves the checkpoints that were there and at most a folder that no one takes for a checkpoint.
 * @throws ERR_NON_FINITE_WEIGHTS (nothing is written), ERR_DISK_FULL, ERR_CHECKPOINT
 */
export async function saveCheckpoint(request: SaveRequest, files: Files = diskFiles): Promise<Checkpoint> {
  const { output, policy, state, config } = request
  const folder = checkpointsFolder(output)
  const dir = join(folder, checkpointName(state.step))
  const aside = join(folder, `.new-${checkpointName(state.step)}`)
  if (await isComplete(dir)) return { dir, step: state.step }
  await refuseNonFinite(policy)
  try {
    await files.remove(aside)
    await files.makeFolder(aside)
    await policy.save(join(aside, 'model'))
    await policy.saveOptimizer(join(aside, 'optimizer.safetensors'))
    await files.write(join(aside, 'state.json'), `${JSON.stringify(state, null, 1)}\n`)
    await files.write(join(aside, 'config.json'), `${JSON.stringify(config, null, 1)}\n`)
    const written = await filesBelow(aside)
    for (const { path } of written) await files.sync(join(aside, path))
    await files.sync(join(aside, 'model'))
    const sizes = Object.fromEntries(written.map(({ path, bytes }) => [path, bytes]))
    await files.write(join(aside, markerName), `${JSON.stringify({ files: sizes }, null, 1)}\n`)
    await files.sync(join(aside, markerName))
    await files.sync(aside)
    await files.remove(dir)
    await files.rename(aside, dir)
    await files.sync(folder)
  } catch (cause) {
    await files.remove(aside).catch(() => {})
    throw saveError(dir, cause)
  }
  return { dir, step: state.step }
}

async function refuseNonFinite(policy: SavedPolicy): Promise<void> {
  for (const { name } of policy.parameters) {
    const values = await policy.parameter(name)
    const at = firstNonFinite(values)
    if (at < 0) continue
    throw new SkillgateError(
      'ERR_NON_FINITE_WEIGHTS',
      `expected finite weights to save, got ${values[at]} at place ${at} of ${name}; earlier checkpoints are kept`,
    )
  }
}

function firstNonFinite(values: Float32Array): number {
  for (let i = 0; i < values.length; i++) if (values[i]! - values[i]! !== 0) return i
  return -1
}

export function isDiskFull(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' || /no space left/i.test(message)
}

function saveError(dir: string, cause: unknown): SkillgateError {
  const { message } = cause as Error
  const full = isDiskFull(cause)
  return new SkillgateError(
    full ? 'ERR_DISK_FULL' : 'ERR_CHECKPOINT',
    full
      ? `no space left for checkpoint ${dir}; it was not written, earlier ones are kept (${message})`
      : `checkpoint ${dir} was not written, earlier ones are kept: ${message}`,
    { cause },
  )
}
