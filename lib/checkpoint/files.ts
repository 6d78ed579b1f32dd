import { access, constants, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SkillgateError } from '../errors.js'

/** What checkpoints do to a disk. Each call is one moment at which a process can be killed or a disk can be full. */
export interface Files {
  makeFolder(path: string): Promise<void>
  write(path: string, text: string): Promise<void>
  /** Returns once the content of a file, or the names in a folder, are on the disk. */
  sync(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** A file, or a folder with all that is in it; nothing where there is none. */
  remove(path: string): Promise<void>
}

export const diskFiles: Files = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true })
  },
  write: (path, text) => writeFile(path, text),
  async sync(path) {
    const file = await open(path, 'r')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  },
  rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
}

/** Every file below a folder: path relative to it, and size in bytes, in the order of the paths. */
export async function filesBelow(folder: string): Promise<{ path: string; bytes: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found = paths.map(async (path) => ({
    path: path.slice(folder.length + 1),
    bytes: (await stat(path)).size,
  }))
  return (await Promise.all(found)).sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Writes a file aside, syncs it and renames it, so that a reader finds the old content or the new. */
export async function writeWhole(files: Files, folder: string, name: string, text: string): Promise<void> {
  const aside = join(folder, `.${name}.new`)
  await files.write(aside, text)
  await files.sync(aside)
  await files.rename(aside, join(folder, name))
  await files.sync(folder)
}

/**
 * Makes the folder a run or an evaluation writes to.
 * @throws ERR_OUTPUT
 */
export async function makeOutputFolder(output: string): Promise<void> {
  try {
    await mkdir(output, { recursive: true })
    await access(output, constants.W_OK)
  } catch (cause) {
    const message = `expected a folder to write to at ${output}: ${(cause as Error).message}`
    throw new SkillgateError('ERR_OUTPUT', message, { cause })
  }
}
