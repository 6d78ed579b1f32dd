import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataFingerprint, folderFingerprint } from '../../lib/checkpoint/fingerprint.js'
import { newFolder } from './fake-run.js'

function modelFolder(weights: Uint8Array, config = '{}'): string {
  const dir = newFolder()
  writeFileSync(join(dir, 'config.json'), config)
  writeFileSync(join(dir, 'model.safetensors'), weights)
  return dir
}

describe('folderFingerprint', () => {
  const large = new Uint8Array(4 << 20).map((_, i) => i % 251)
  it('is that of the content, wherever the folder is', async () => {
    expect(await folderFingerprint(modelFolder(large))).toBe(await folderFingerprint(modelFolder(large)))
    const withFolder = modelFolder(large)
    mkdirSync(join(withFolder, 'more'))
    expect(await folderFingerprint(withFolder)).toBe(await folderFingerprint(modelFolder(large)))
  })
  it('differs with the first and last byte of a large file, its length, and any other file', async () => {
    const changed = (at: number) => modelFolder(large.with(at, 255))
    const folders = [
      modelFolder(large),
      changed(0),
      changed(large.length - 1),
      modelFolder(large.subarray(1)),
      modelFolder(large, '{"a": 1}'),
      modelFolder(new Uint8Array(0)),
    ]
    const all = await Promise.all(folders.map(folderFingerprint))
    expect(new Set(all).size).toBe(all.length)
  })
})

describe('dataFingerprint', () => {
  it('differs with order and content', () => {
    const all = [[1, 2], [2, 1], [[1], 2], undefined, { a: 1 }].map(dataFingerprint)
    expect(new Set(all).size).toBe(all.length)
  })
})
