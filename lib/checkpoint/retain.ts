import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFiles, type Files } from './files.js'
import { checkpointName, checkpointsFolder, listCheckpoints } from './find.js'

/**
 * Deletes checkpoints but the newest `keepLast` and that of step `best`. A folder first loses its name, so that a process killed in
 * between leaves no half-deleted checkpoint.
 */
export async function retainCheckpoints(
  output: string,
  keep: { keepLast: number; best?: number },
  files: Files = diskFiles,
): Promise<void> {
  const all = await listCheckpoints(output)
  const folder = checkpointsFolder(output)
  for (const { dir, step } of all.slice(0, -keep.keepLast)) {
    if (step === keep.best) continue
    const doomed = join(folder, `.old-${checkpointName(step)}`)
    await files.remove(doomed)
    await files.rename(dir, doomed)
    await files.remove(doomed)
  }
}

/** Removes what a killed process left: checkpoints half written or half deleted. */
export async function sweepCheckpoints(output: string, files: Files = diskFiles): Promise<void> {
  const folder = checkpointsFolder(output)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) if (/^\.(new|old)-step-\d+$/.test(name)) await files.remove(join(folder, name))
}
