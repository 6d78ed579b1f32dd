import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { skillLab } from '../../lib/environments/skill-lab/index.js'
import { readTrajectories } from '../../lib/rollout/trajectory-file.js'
import { ensureBuilt, root } from '../built-package.js'

beforeAll(ensureBuilt, 180_000)

it('own-skills trains a model on its own skills, tasks and agent', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skillgate-example-'))
  const [model, output] = [join(folder, 'model'), join(folder, 'run')]
  await (await skillLab()).createModel(model, 1)
  const program = join(root, 'examples', 'own-skills', 'train.mjs')
  const said = execFileSync(process.execPath, [program, model, output, '1'], {
    encoding: 'utf8',
    cwd: folder,
  })
  expect(said).toContain('step 1/1  reward')
  expect(said).toContain('trained 1 steps; the model is in')
  expect(existsSync(join(output, 'checkpoints', 'step-000001', 'model', 'model.safetensors'))).toBe(true)
  const [group] = await readTrajectories(join(output, 'trajectories', 'step-000001.jsonl'))
  expect(group!.trajectories[0]!.slate.map(({ name }) => name).sort()).toEqual([
    'reversing',
    'shouting',
    'spelling',
  ])
  expect(group!.trajectories[0]!.messages[0]!.content).toContain(
    '<location>/skills/shouting/SKILL.md</location>',
  )
})
