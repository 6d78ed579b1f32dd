import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSkillLab } from '../../lib/cli/skill-lab-run.js'
import { type SkillLab, skillLab } from '../../lib/environments/skill-lab/index.js'
import { Progress } from '../../lib/report/progress.js'
import { plainStyle } from '../../lib/report/style.js'

const { agent, skills, trainTasks, heldOutTasks, heldOutSkillTasks, demonstrations, createModel, defaults } =
  await skillLab()

/** The environment with as little of everything as there can be. */
const tiny = {
  ...{ agent, skills, trainTasks, heldOutTasks, heldOutSkillTasks, demonstrations, createModel },
  defaults: {
    ...defaults,
    sft: { ...defaults.sft, demonstrations: 8, warmupSteps: 1 },
    eval: { ...defaults.eval, tasks: 2, maxTurns: 2 },
  },
} as unknown as SkillLab

function jobOf(output: string) {
  const said = { text: '' }
  const controller = new AbortController()
  const write = (text: string) => (said.text += text)
  const options = {
    ...{ agent, skills, tasks: trainTasks, output, seed: 3 },
    ...{ steps: 1, groupsPerStep: 1, groupSize: 2, maxTurns: 2, maxTokensPerTurn: 16, klCoefficient: 0 },
  }
  const surroundings = {
    ...{ progress: new Progress({ write }), errors: new Progress({ write }), style: plainStyle },
    ...{ signal: controller.signal, argv: ['train', '--seed', '3'] },
  }
  return { said, controller, options, surroundings }
}

describe('the built-in job', () => {
  it('goes through its phases to a table of before and after', async () => {
    const output = mkdtempSync(join(tmpdir(), 'skillgate-lab-'))
    const { said, options, surroundings } = jobOf(output)
    expect(await runSkillLab(options, surroundings, tiny)).toBe(0)
    for (const title of [
      '1/5',
      '2/5',
      '3/5',
      '4/5',
      '5/5',
      'Before and after',
      'step 1/1  reward',
      'oracle read',
    ]) {
      expect(said.text).toContain(title)
    }
    expect(said.text).toMatch(/success +\d+\.\d% \[[\d.]+, [\d.]+\] +\d+\.\d%/)
    const model = /The trained model: (\S+)/.exec(said.text)![1]!
    expect(existsSync(join(model, 'model.safetensors'))).toBe(true)

    rmSync(join(output, 'evaluation-after'), { recursive: true })
    const again = jobOf(output)
    expect(await runSkillLab({ ...again.options, resume: true }, again.surroundings, tiny)).toBe(0)
    const tableOf = (text: string) => text.slice(text.indexOf('Before and after'), text.indexOf('done in'))
    expect(tableOf(again.said.text)).toBe(tableOf(said.text))
  })

  it('stopped while it measures says how to go on', async () => {
    const output = mkdtempSync(join(tmpdir(), 'skillgate-lab-'))
    const { said, controller, options, surroundings } = jobOf(output)
    const stopping = {
      ...tiny,
      agent: async (...episode: Parameters<typeof agent>) => {
        controller.abort()
        return agent(...episode)
      },
    }
    expect(await runSkillLab(options, surroundings, stopping)).toBe(130)
    expect(said.text).toContain('stopped. To go on:\n  npx skillgate train --seed 3 --resume')
  })
})
