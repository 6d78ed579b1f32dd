import { SkillgateError } from '../errors.js'
import type { Checkpoint } from './find.js'
import type { RunState } from './state.js'

/**
 * Refuses a checkpoint of another recipe, model, data or config, naming each difference.
 * @param configDifferences what forbids going on among the options, in words
 * @throws ERR_CHECKPOINT_MISMATCH
 */
export function requireAgreement(
  checkpoint: Checkpoint,
  saved: RunState,
  current: Pick<RunState, 'recipe' | 'inputs' | 'parameters'>,
  configDifferences: readonly string[],
): void {
  const differences = [...configDifferences]
  if (saved.recipe !== current.recipe)
    differences.push(`recipe: ${saved.recipe} in the checkpoint, ${current.recipe} now`)
  for (const name of new Set([...Object.keys(saved.inputs), ...Object.keys(current.inputs)])) {
    const [was, is] = [saved.inputs[name], current.inputs[name]]
    if (was === is) continue
    if (was === undefined) differences.push(`${name}: none in the checkpoint`)
    else
      differences.push(
        is === undefined ? `${name}: none now` : `${name}: other content than in the checkpoint`,
      )
  }
  differences.push(...parameterDifferences(saved.parameters, current.parameters))
  if (differences.length === 0) return
  throw new SkillgateError(
    'ERR_CHECKPOINT_MISMATCH',
    `cannot resume from ${checkpoint.dir}: it belongs to another run\n  ${differences.join('\n  ')}`,
  )
}

function parameterDifferences(saved: RunState['parameters'], current: RunState['parameters']): string[] {
  const text = (shape: readonly number[] | undefined) => (shape ? `[${shape.join(', ')}]` : 'absent')
  const names = new Set([...Object.keys(saved), ...Object.keys(current)])
  const different = [...names].filter((name) => text(saved[name]) !== text(current[name]))
  const listed = different
    .slice(0, 5)
    .map((name) => `parameter ${name}: ${text(saved[name])} in the checkpoint, ${text(current[name])} now`)
  return different.length > 5 ? [...listed, `and ${different.length - 5} more parameters`] : listed
}
