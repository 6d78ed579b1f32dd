import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SkillgateError } from '../errors.js'
import type { Checkpoint } from './find.js'
import type { RunState } from './state.js'

export interface CurrentRun extends Pick<RunState, 'recipe' | 'inputs'> {
  /** The model folder the run starts from. */
  model: string
}

/**
 * Refuses a checkpoint of another recipe, model, data or config, naming each difference.
 * @param configDifferences what forbids going on among the options, in words
 * @throws ERR_CHECKPOINT_MISMATCH
 */
export async function requireAgreement(
  checkpoint: Checkpoint,
  saved: RunState,
  current: CurrentRun,
  configDifferences: readonly string[],
): Promise<void> {
  const differences = [...configDifferences]
  if (saved.recipe !== current.recipe) {
    differences.push(`recipe: ${saved.recipe} in the checkpoint, ${current.recipe} now`)
  }
  for (const name of new Set([...Object.keys(saved.inputs), ...Object.keys(current.inputs)])) {
    const [was, is] = [saved.inputs[name], current.inputs[name]]
    if (was === is) continue
    if (was === undefined) differences.push(`${name}: none in the checkpoint`)
    else if (is === undefined) differences.push(`${name}: none now`)
    else if (name === 'model')
      differences.push(...(await modelDifferences(join(checkpoint.dir, 'model'), current.model)))
    else differences.push(`${name}: other content than in the checkpoint`)
  }
  if (differences.length === 0) return
  throw new SkillgateError(
    'ERR_CHECKPOINT_MISMATCH',
    `cannot resume from ${checkpoint.dir}: it belongs to another run\n  ${differences.join('\n  ')}`,
  )
}

/** Keys of config.json that say how a model is stored, not what it is. */
const storageKeys = new Set(['dtype', 'torch_dtype', 'transformers_version'])

async function modelDifferences(was: string, is: string): Promise<string[]> {
  const [saved, current] = await Promise.all([modelConfig(was), modelConfig(is)])
  const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value))
  const names = [...new Set([...Object.keys(saved), ...Object.keys(current)])]
  const different = names.filter(
    (name) => !storageKeys.has(name) && text(saved[name]) !== text(current[name]),
  )
  if (different.length === 0) return ['model: other initial weights or tokenizer than in the checkpoint']
  return different.map(
    (name) => `model ${name}: ${text(saved[name])} in the checkpoint, ${text(current[name])} now`,
  )
}

async function modelConfig(dir: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(join(dir, 'config.json'), 'utf8'))
  } catch {
    return {}
  }
}
