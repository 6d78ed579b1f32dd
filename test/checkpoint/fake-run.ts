import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskFiles, type Files } from '../../lib/checkpoint/files.js'
import type { SavedPolicy } from '../../lib/checkpoint/save.js'
import type { RunState } from '../../lib/checkpoint/state.js'

export const newFolder = () => mkdtempSync(join(tmpdir(), 'skillgate-checkpoint-'))

export function stateAt(step: number): RunState {
  return {
    format: 1,
    recipe: 'train',
    step,
    policyVersion: step,
    seed: 7,
    startedAt: 1_700_000_000_000,
    data: { epoch: 0, index: step },
    counters: { skippedSteps: 0 },
    inputs: { model: 'aa', tasks: 'bb' },
  }
}

/** A policy whose files say which step they belong to, written through `files`. */
export function policyAt(step: number, files: Files = diskFiles, weights = [step, 1]): SavedPolicy {
  return {
    parameters: [{ name: 'weight', shape: [2] }],
    parameter: async () => Float32Array.from(weights),
    async save(dir) {
      await files.makeFolder(dir)
      await files.write(join(dir, 'config.json'), '{}')
      await files.write(join(dir, 'model.safetensors'), `weights of step ${step}`)
    },
    saveOptimizer: (file) => files.write(file, `moments of step ${step}`),
  }
}

export class Killed extends Error {}

/** Files of a process that is killed at its `moment`-th call: a write in progress leaves half the text, nothing works after. */
export function killedFiles(moment: number): Files & { calls: number } {
  const files = { calls: 0 } as Files & { calls: number }
  for (const name of ['makeFolder', 'write', 'sync', 'rename', 'remove'] as const) {
    files[name] = async (path: string, second?: string) => {
      files.calls += 1
      if (files.calls > moment) throw new Killed('killed')
      if (files.calls === moment) {
        if (name === 'write') await diskFiles.write(path, second!.slice(0, second!.length >> 1))
        throw new Killed('killed')
      }
      await (diskFiles[name] as (a: string, b?: string) => Promise<void>)(path, second)
    }
  }
  return files
}
