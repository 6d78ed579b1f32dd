import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requireAgreement } from '../../lib/checkpoint/agreement.js'
import { diskFiles } from '../../lib/checkpoint/files.js'
import { isComplete, latestCheckpoint, listCheckpoints, readCheckpoint } from '../../lib/checkpoint/find.js'
import { retainCheckpoints, sweepCheckpoints } from '../../lib/checkpoint/retain.js'
import { saveCheckpoint } from '../../lib/checkpoint/save.js'
import { killedFiles, newFolder, policyAt, stateAt } from './fake-run.js'

const config = { steps: 10 }
const save = (output: string, step: number, files = diskFiles) =>
  saveCheckpoint({ output, policy: policyAt(step, files), state: stateAt(step), config }, files)
const stepsOf = async (output: string) => (await listCheckpoints(output)).map(({ step }) => step)

/** That the last complete checkpoint is whole: every file belongs to its own step. */
async function expectWhole(output: string): Promise<number | undefined> {
  const latest = await latestCheckpoint(output)
  if (!latest) return undefined
  const { state, config: saved } = await readCheckpoint(latest)
  expect(state).toEqual(stateAt(latest.step))
  expect(saved).toEqual(config)
  const text = (name: string) => readFileSync(join(latest.dir, name), 'utf8')
  expect(text('model/model.safetensors')).toBe(`weights of step ${latest.step}`)
  expect(text('optimizer.safetensors')).toBe(`moments of step ${latest.step}`)
  return latest.step
}

describe('a checkpoint', () => {
  it('holds model, optimizer, state, config and the marker', async () => {
    const output = newFolder()
    const { dir } = await save(output, 10)
    expect(dir).toBe(join(output, 'checkpoints', 'step-000010'))
    expect(readdirSync(dir).sort()).toEqual([
      'COMPLETE',
      'config.json',
      'model',
      'optimizer.safetensors',
      'state.json',
    ])
    expect(await expectWhole(output)).toBe(10)
  })

  it('killed at any moment of a save leaves the one before it or the new one, both whole', {
    timeout: 60_000,
  }, async () => {
    const counting = killedFiles(Number.POSITIVE_INFINITY)
    await save(newFolder(), 2, counting)
    expect(counting.calls).toBeGreaterThan(15)
    const ends = new Set<number | undefined>()
    for (let moment = 1; moment <= counting.calls; moment++) {
      const output = newFolder()
      await save(output, 1)
      await expect(save(output, 2, killedFiles(moment))).rejects.toThrow('killed')
      ends.add(await expectWhole(output))
      await sweepCheckpoints(output)
      await save(output, 2)
      expect(await expectWhole(output)).toBe(2)
      expect(readdirSync(join(output, 'checkpoints'))).toEqual(['step-000001', 'step-000002'])
      rmSync(output, { recursive: true })
    }
    expect(ends).toEqual(new Set([1, 2]))
  })

  it('killed at any moment of a first save leaves none or a whole one', { timeout: 60_000 }, async () => {
    const counting = killedFiles(Number.POSITIVE_INFINITY)
    await save(newFolder(), 1, counting)
    for (let moment = 1; moment <= counting.calls; moment++) {
      const output = newFolder()
      await expect(save(output, 1, killedFiles(moment))).rejects.toThrow('killed')
      expect([undefined, 1]).toContain(await expectWhole(output))
      rmSync(output, { recursive: true })
    }
  })

  it('that lost its marker, or a byte of any file, is not taken', async () => {
    const output = newFolder()
    await save(output, 1)
    const { dir } = await save(output, 2)
    for (const name of ['model/model.safetensors', 'optimizer.safetensors', 'state.json', 'COMPLETE']) {
      const before = readFileSync(join(dir, name))
      truncateSync(join(dir, name), before.length - (name === 'COMPLETE' ? 5 : 1))
      expect(await isComplete(dir), name).toBe(false)
      expect(await expectWhole(output)).toBe(1)
      writeFileSync(join(dir, name), before)
      expect(await isComplete(dir), name).toBe(true)
    }
    rmSync(join(dir, 'COMPLETE'))
    expect(await expectWhole(output)).toBe(1)
  })

  it('is not written with weights that are not finite; the one before stays', async () => {
    const output = newFolder()
    await save(output, 1)
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const policy = policyAt(2, diskFiles, [0, bad])
      const request = { output, policy, state: stateAt(2), config }
      await expect(saveCheckpoint(request)).rejects.toMatchObject({
        code: 'ERR_NON_FINITE_WEIGHTS',
        message: `expected finite weights to save, got ${bad} at place 1 of weight; earlier checkpoints are kept`,
      })
    }
    expect(readdirSync(join(output, 'checkpoints'))).toEqual(['step-000001'])
  })

  it('on a full disk is named, and nothing of it stays', async () => {
    const output = newFolder()
    await save(output, 1)
    const full = {
      ...diskFiles,
      async write(path: string, text: string) {
        if (path.endsWith('state.json'))
          throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
        await diskFiles.write(path, text)
      },
    }
    await expect(save(output, 2, full)).rejects.toMatchObject({ code: 'ERR_DISK_FULL' })
    expect(readdirSync(join(output, 'checkpoints'))).toEqual(['step-000001'])
    expect(await expectWhole(output)).toBe(1)
  })
})

describe('retention', () => {
  it('keeps the newest and the best', async () => {
    const output = newFolder()
    for (const step of [1, 2, 3, 4, 5]) await save(output, step)
    await retainCheckpoints(output, { keepLast: 2, best: 2 })
    expect(await stepsOf(output)).toEqual([2, 4, 5])
    await retainCheckpoints(output, { keepLast: 1, best: 5 })
    expect(await stepsOf(output)).toEqual([5])
  })

  it('counts complete checkpoints only: an incomplete newer one never costs an older one its life', async () => {
    const output = newFolder()
    for (const step of [1, 2]) await save(output, step)
    rmSync(join(output, 'checkpoints', 'step-000002', 'COMPLETE'))
    await retainCheckpoints(output, { keepLast: 1 })
    expect(await stepsOf(output)).toEqual([1])
  })

  it('killed at any moment leaves the newest whole', { timeout: 60_000 }, async () => {
    const moments = 6
    for (let moment = 1; moment <= moments; moment++) {
      const output = newFolder()
      for (const step of [1, 2, 3]) await save(output, step)
      await expect(retainCheckpoints(output, { keepLast: 1 }, killedFiles(moment))).rejects.toThrow('killed')
      expect(await expectWhole(output)).toBe(3)
      await sweepCheckpoints(output)
      await retainCheckpoints(output, { keepLast: 1 })
      expect(readdirSync(join(output, 'checkpoints'))).toEqual(['step-000003'])
    }
  })
})

describe('reading', () => {
  it('finds nothing where there is nothing', async () => {
    expect(await latestCheckpoint('/nowhere')).toBeUndefined()
    expect(await latestCheckpoint(newFolder())).toBeUndefined()
    expect(existsSync('/nowhere')).toBe(false)
  })

  it('names what is wrong with a state', async () => {
    const output = newFolder()
    const checkpoint = await save(output, 1)
    const state = JSON.stringify(stateAt(1))
    const bad: [string, string][] = [
      ['', 'expected JSON'],
      [state.slice(0, 40), 'expected JSON'],
      ['[]', 'expected the state of a run'],
      [state.replace('"format":1', '"format":2'), 'format'],
      [state.replace('"step":1', '"step":-1'), 'step'],
      [state.replace('"index":1', '"index":"one"'), 'data.index'],
    ]
    for (const [text, named] of bad) {
      writeFileSync(join(checkpoint.dir, 'state.json'), text)
      await expect(readCheckpoint(checkpoint)).rejects.toMatchObject({
        code: 'ERR_CHECKPOINT',
        message: expect.stringContaining(named),
      })
    }
  })
})

describe('a checkpoint of another run', () => {
  const saved = stateAt(3)
  const modelWith = (config: object) => {
    const model = newFolder()
    writeFileSync(join(model, 'config.json'), JSON.stringify(config))
    return model
  }
  async function savedWith(config: object) {
    const output = newFolder()
    const checkpoint = await save(output, 3)
    writeFileSync(join(checkpoint.dir, 'model', 'config.json'), JSON.stringify(config))
    return checkpoint
  }
  it('is refused, each difference named', async () => {
    const checkpoint = await savedWith({ hidden_size: 64, dtype: 'float32', vocab_size: 300 })
    const current = {
      recipe: 'sft' as const,
      inputs: { model: 'zz', tasks: 'cc', skills: 'dd' },
      model: modelWith({ hidden_size: 128, dtype: 'bfloat16', vocab_size: 300, tie_word_embeddings: true }),
    }
    await expect(
      requireAgreement(checkpoint, saved, current, ['groupSize: 8 in the checkpoint, 4 now']),
    ).rejects.toMatchObject({
      code: 'ERR_CHECKPOINT_MISMATCH',
      message: [
        `cannot resume from ${checkpoint.dir}: it belongs to another run`,
        'groupSize: 8 in the checkpoint, 4 now',
        'recipe: train in the checkpoint, sft now',
        'model hidden_size: 64 in the checkpoint, 128 now',
        'model tie_word_embeddings: absent in the checkpoint, true now',
        'tasks: other content than in the checkpoint',
        'skills: none in the checkpoint',
      ].join('\n  '),
    })
  })
  it('with other weights in a model of the same form is refused too', async () => {
    const config = { hidden_size: 64 }
    const checkpoint = await savedWith(config)
    const current = { ...saved, inputs: { ...saved.inputs, model: 'zz' }, model: modelWith(config) }
    await expect(requireAgreement(checkpoint, saved, current, [])).rejects.toThrow(
      'other initial weights or tokenizer',
    )
  })
  it('of the same run is taken', async () => {
    const current = { recipe: saved.recipe, inputs: saved.inputs, model: '/elsewhere' }
    await requireAgreement(await savedWith({}), saved, current, [])
  })
})
