import { join } from 'node:path'
import { say } from './command.mjs'
import { writeModelFolder } from './model-folder.mjs'
import { decodeShapes, lossShapes, updateShapes } from './shapes.mjs'

/** What is kept of the limit for writing the results. */
const RESERVE_SECONDS = 10

/**
 * Runs the benchmarks, the most telling ones first, as far as time goes; what could not be run is named in `missing` with the reason.
 * @returns {Promise<{ loss: object[], update: object[], decode: object[], torch: object[], missing: string[] }>}
 */
export async function measure({
  run,
  scratch,
  bench,
  shapes = { loss: lossShapes, update: updateShapes, decode: decodeShapes },
}) {
  const results = { loss: [], update: [], decode: [], torch: [], missing: [] }
  async function attempt(kind, title, seconds, command, args, more = {}) {
    if (run.left() < RESERVE_SECONDS + 5) {
      results.missing.push(`${title}: no time was left`)
      return
    }
    try {
      const text = await run(command, args, { seconds: Math.min(seconds, run.left() - RESERVE_SECONDS) })
      results[kind].push({ ...more, ...JSON.parse(text.trim().split('\n').at(-1)) })
      say(title)
    } catch (error) {
      results.missing.push(`${title}: ${error.message.split('\n').slice(0, 2).join(' ')}`)
    }
  }
  const folders = new Map()
  function folderOf(config) {
    const key = JSON.stringify(config)
    if (!folders.has(key)) {
      folders.set(key, join(scratch, `model-${folders.size}`))
      writeModelFolder(folders.get(key), config)
    }
    return folders.get(key)
  }

  for (const { T, D, V, rounds } of shapes.loss) {
    await attempt(
      'loss',
      `loss T ${T} D ${D} V ${V}`,
      60,
      bench,
      ['policy_loss', T, D, V, rounds].map(String),
    )
  }
  const torch = join(import.meta.dirname, 'torch_update.py')
  for (const { T, D, V } of shapes.loss) {
    await attempt('torch', `PyTorch T ${T} D ${D} V ${V}`, 60, 'python3', [torch, T, D, V].map(String))
  }
  for (const { name, config, sequences, length } of shapes.update) {
    const args = ['update', folderOf(config), sequences, length].map(String)
    await attempt('update', `update ${name}`, 90, bench, args, { model: name })
  }
  for (const { name, config, sequences, length, tokens } of shapes.decode) {
    const args = ['decode', folderOf(config), sequences, length, tokens].map(String)
    await attempt('decode', `decode ${name}, ${sequences} at a time`, 90, bench, args, { model: name })
  }
  return results
}
