import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeOptions, readConfigFile } from '../../lib/config/load.js'
import { rlOptions } from '../../lib/config/rl-options.js'
import { configDifferences, savedConfig } from '../../lib/config/saved.js'
import type { SkillgateError } from '../../lib/errors.js'

const { shape } = rlOptions

function fileWith(name: string, content: string | Uint8Array): string {
  const file = join(mkdtempSync(join(tmpdir(), 'skillgate-config-')), name)
  writeFileSync(file, content)
  return file
}

describe('config files', () => {
  it('are JSON or YAML, with paths meant from the file', () => {
    const json = fileWith('run.json', '{"model": "model", "steps": 3, "betas": [0.9, 0.95]}')
    expect(readConfigFile(shape, json)).toEqual({
      model: resolve(json, '../model'),
      steps: 3,
      betas: [0.9, 0.95],
    })
    const yaml = fileWith('run.yaml', 'agent: ./agent.mjs\nmethod: grpo # plain\n')
    expect(readConfigFile(shape, yaml)).toEqual({ agent: resolve(yaml, '../agent.mjs'), method: 'grpo' })
  })
  it('are overlaid by flags', () => {
    expect(mergeOptions(shape, { steps: 3, seed: 1 }, { steps: 4, model: 'here' })).toEqual({
      steps: 4,
      seed: 1,
      model: resolve('here'),
    })
  })
  it('that are missing, cut off or hold something else are named', () => {
    const bad = [
      '/nowhere/run.json',
      fileWith('cut.json', '{"steps": 3'),
      fileWith('list.json', '[1]'),
      fileWith('number.yaml', '3'),
      fileWith('empty.yaml', ''),
      fileWith('bad.yaml', 'a: [1\nb: }'),
      fileWith('huge.yaml', `a: ${'x'.repeat(5 << 20)}`),
    ]
    for (const file of bad) expect(() => readConfigFile(shape, file), file).toThrow(file)
  })
  it('of any bytes give options or ERR_CONFIG', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('a.json', 'a.yaml'), (bytes, name) => {
        try {
          expect(typeof readConfigFile(shape, fileWith(name, bytes))).toBe('object')
        } catch (error) {
          expect((error as SkillgateError).code).toBe('ERR_CONFIG')
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('a saved config', () => {
  it('leaves out what only a program can give', () => {
    const options = { model: '/m', tasks: [{}], agent: () => 1, signal: {}, steps: 5, dualClip: undefined }
    expect(savedConfig(shape, options)).toEqual({ model: '/m', steps: 5 })
  })
  it('differs by name and value, but for what may change', () => {
    const saved = { steps: 5, groupSize: 8, threads: 1, microBatchTokens: 10, output: 'a' }
    const now = { steps: 9, groupSize: 4, threads: 2, microBatchTokens: 20, output: 'b', dualClip: 3 }
    expect(configDifferences(shape, saved, now)).toEqual({
      forbidden: ['groupSize: 8 in the checkpoint, 4 now', 'dualClip: nothing in the checkpoint, 3 now'],
      rounding: ['microBatchTokens: 10 in the checkpoint, 20 now'],
    })
  })
  it('takes an option that a checkpoint does not name at its default', () => {
    const now = { steps: 9, groupSize: 8, weights: 'f32', seed: 0 }
    expect(configDifferences(shape, { steps: 9 }, now)).toEqual({ forbidden: [], rounding: [] })
    expect(configDifferences(shape, { steps: 9 }, { ...now, weights: 'bf16' }).forbidden).toEqual([
      'weights: f32 in the checkpoint, bf16 now',
    ])
  })
})
