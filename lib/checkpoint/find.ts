import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SkillgateError } from '../errors.js'
import { filesBelow } from './files.js'
import { parseState, type RunState } from './state.js'

/** Written last into a checkpoint: the size of every other file in it. */
export const markerName = 'COMPLETE'

export interface Checkpoint {
  /** The folder: model/, optimizer.safetensors, state.json, config.json and the marker. */
  dir: string
  step: number
}

export const checkpointsFolder = (output: string) => join(output, 'checkpoints')
export const checkpointName = (step: number) => `step-${String(step).padStart(6, '0')}`
export const checkpointPath = (output: string, step: number) =>
  join(checkpointsFolder(output), checkpointName(step))

/** A folder is complete if its marker is there and every file it names has the size it names. */
export async function isComplete(dir: string): Promise<boolean> {
  try {
    const marker = JSON.parse(await readFile(join(dir, markerName), 'utf8')) as {
      files: Record<string, number>
    }
    const found = new Map((await filesBelow(dir)).map(({ path, bytes }) => [path, bytes]))
    return Object.entries(marker.files).every(([path, bytes]) => found.get(path) === bytes)
  } catch {
    return false
  }
}

/** The complete checkpoints of a run, oldest first. */
export async function listCheckpoints(output: string): Promise<Checkpoint[]> {
  const folder = checkpointsFolder(output)
  const names = await readdir(folder).catch(() => [])
  const steps = names.map((name) => /^step-(\d{6,})$/.exec(name)).filter((match) => match !== null)
  const all = steps.map((match) => ({ dir: join(folder, match[0]), step: Number(match[1]) }))
  const complete = await Promise.all(all.map(({ dir }) => isComplete(dir)))
  return all.filter((_, i) => complete[i]).sort((a, b) => a.step - b.step)
}

/** The last complete checkpoint of a run, if there is one. */
export async function latestCheckpoint(output: string): Promise<Checkpoint | undefined> {
  return (await listCheckpoints(output)).at(-1)
}

/**
 * State and config of a checkpoint.
 * @throws ERR_CHECKPOINT where one cannot be read
 */
export async function readCheckpoint(
  checkpoint: Checkpoint,
): Promise<{ state: RunState; config: Record<string, unknown> }> {
  const read = async (name: string) => {
    const file = join(checkpoint.dir, name)
    return { file, text: await readFile(file, 'utf8') }
  }
  try {
    const state = await read('state.json')
    const config = await read('config.json')
    return { state: parseState(state.file, state.text), config: JSON.parse(config.text) }
  } catch (cause) {
    if (cause instanceof SkillgateError) throw cause
    throw new SkillgateError('ERR_CHECKPOINT', `cannot read ${checkpoint.dir}: ${(cause as Error).message}`, {
      cause,
    })
  }
}
