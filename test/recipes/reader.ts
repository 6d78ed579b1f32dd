import { join } from 'node:path'
import { callText } from '../../lib/environments/skill-lab/call-text.js'
import { Tokenizer } from '../../lib/policy/tokenizer.js'
import type { TrainConfig } from '../../lib/recipes/rl.js'
import type { Agent } from '../../lib/rollout/agent.js'
import { newFolder, unigramModel, unigramOpener } from './unigram-policy.js'

export const names = ['amber', 'birch', 'cedar']
const skills = names.map((name) => {
  const content = `---\nname: ${name}\ndescription: d\n---\n`
  return { name, description: 'd', location: `/skills/${name}/SKILL.md`, content }
})
/** No labels: a slate of three, and what is right is known to the agent alone. */
export const tasks = Array.from({ length: 5 }, (_, i) => ({
  id: `t${i}`,
  prompt: `task ${i}`,
  slate: { relevant: names },
  data: { right: names[i % 3] },
}))

/** Reads what the policy says; right reads succeed two times in three. */
export const agent: Agent = async (session, task) => {
  session.user(task.prompt)
  const turn = await session.generate()
  const [call] = turn.toolCalls
  session.toolResult(call!, 'read')
  return call!.arguments.path === `/skills/${task.data!.right}/SKILL.md` && session.seed % 3 > 0 ? 1 : 0
}

/** A unigram model that reads one skill or another, by the seed of the turn, whatever its weights. */
export async function readerConfig(more: Partial<TrainConfig> = {}): Promise<TrainConfig> {
  const model = more.model ?? unigramModel()
  const tokenizer = await Tokenizer.load(model)
  const { openPolicy } = unigramOpener((policy) => {
    policy.generate = async ({ seed = 0, stopTokens = [] }) => {
      const skill = skills[Number(BigInt(seed) % 3n)]!
      const tokens = Int32Array.of(
        ...tokenizer.encodeAfter(undefined, callText('read', { path: skill.location })),
        stopTokens[0]!,
      )
      return { tokens, logprobs: new Float32Array(tokens.length).fill(-1), finishReason: 'stop' }
    }
  })
  return {
    ...{ model, output: join(newFolder(), 'run'), agent, tasks, skills, openPolicy, onEvent: () => {} },
    ...{ method: 'skillgate-auto', steps: 5, groupsPerStep: 3, groupSize: 6, learningRate: 0.1 },
    ...{ klCoefficient: 0, checkpointEvery: 1, keepLast: 10, seed: 3 },
    ...more,
  }
}
