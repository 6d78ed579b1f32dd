import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assignCredit } from '../../lib/credit/credit.js'
import { skillgate } from '../../lib/credit/methods/skillgate.js'
import { readsOfTrajectory } from '../../lib/credit/reads.js'
import { collect } from '../../lib/rollout/collect.js'
import { episodes } from '../../lib/rollout/session.js'
import { toolLoop } from '../../lib/rollout/tool-loop.js'
import type { TokenRange, Trajectory } from '../../lib/rollout/trajectory.js'
import { readTrajectories, storedGroups, writeTrajectories } from '../../lib/rollout/trajectory-file.js'
import type { SkillCategory, Slate } from '../../lib/skills/skill.js'
import { callText, ScriptedPolicy, template, tokenizer } from '../rollout/scripted-policy.js'

const candidate = (name: string, category: SkillCategory) => ({
  skill: { name, description: 'd', location: `/skills/${name}/SKILL.md`, content: `how to ${name}` },
  category,
})
const slate: Slate = {
  candidates: [candidate('wéave', 'misleading'), candidate('sew', 'oracle'), candidate('knit', 'relevant')],
  labelled: true,
}
const read = (name: string) => callText('read', { path: `/skills/${name}/SKILL.md` })

/** Reads a skill or two as the seed says, then answers. */
const script = (context: string, seed: number) => {
  if (context.includes('how to')) return `finished 🧵 ${'.'.repeat(seed % 5)}`
  return [`Hm. ${read('sew')}`, read('wéave'), read('sew') + read('knit'), 'I know it.'][seed % 4]!
}

const play = () =>
  collect({
    agent: toolLoop({ tools: [], reward: ({ answer }) => answer.length % 3 }),
    openEpisode: episodes({ policy: new ScriptedPolicy(script).policy, tokenizer, template }),
    findReads: (trajectory) => readsOfTrajectory(trajectory, (id) => tokenizer.bytesOf(id)),
    nextTask: () => ({ id: 't', prompt: 'mend it' }),
    slateFor: () => slate,
    ...{ groupsPerStep: 3, groupSize: 6, concurrency: 5, deadlineMs: 60_000, seed: 2, step: 0 },
  })

const textOf = ({ sequences }: Trajectory, sequence: number, { start, end }: TokenRange) =>
  tokenizer.textOf(sequences[sequence]!.tokens.slice(start, end))

test('what the policy read is found in its own tokens, and gets the credit of its choice', async () => {
  const { kept } = await play()
  const reads = kept.flatMap((group) => group.trajectories.flatMap((t) => t.reads.map((r) => ({ t, r }))))
  expect(new Set(reads.map(({ r }) => r.category))).toEqual(new Set(['oracle', 'misleading', 'relevant']))
  for (const { t, r } of reads) {
    expect(textOf(t, r.sequence, r.identity)).toBe(r.skill)
    expect(textOf(t, r.sequence, r.call)).toMatch(
      new RegExp(`^<tool_call>(.|\\n)+${r.skill}(.|\\n)+</tool_call>(<.im_end.>)?$`),
    )
  }
  const { sequences, statistics } = assignCredit(kept, { method: skillgate })
  expect(statistics.activePositive).toBeGreaterThan(0)
  expect(statistics.activeNegative).toBeGreaterThan(0)
  for (const { trajectory, channel, advantage } of sequences) {
    const clean = trajectory.reads.length === 1 && trajectory.reads[0]!.category === 'oracle'
    for (const { identity } of trajectory.reads) {
      for (let t = identity.start; t < identity.end; t++)
        expect([channel[t], Math.sign(advantage[t]!)]).toEqual([2, clean ? 1 : -1])
    }
  }
})

test('a step is the same when it is played again, and when it is read from its file', async () => {
  const result = await play()
  expect(await play()).toEqual(result)
  const folder = await mkdtemp(join(tmpdir(), 'skillgate-step-'))
  try {
    const groups = storedGroups(0, result)
    await writeTrajectories(join(folder, 'step.jsonl'), groups)
    const stored = await readTrajectories(join(folder, 'step.jsonl'))
    expect(stored).toEqual(groups)
    const credit = (from: typeof result.kept) => assignCredit(from, { method: skillgate }).sequences
    expect(credit(stored.filter((group) => group.dropped === undefined))).toEqual(credit(result.kept))
  } finally {
    await rm(folder, { recursive: true })
  }
})
