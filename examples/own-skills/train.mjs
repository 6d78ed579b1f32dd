// Own skills, own tasks, own agent: node examples/own-skills/train.mjs <model folder> <output folder> [steps]
import { train } from 'skillgate'

const tasks = ['paris', 'tokyo', 'lima', 'cairo', 'oslo', 'quito'].flatMap((city) => [
  { id: `shout ${city}`, prompt: `Shout ${city}.`, oracle: ['shouting'], answer: `${city.toUpperCase()}!` },
  { id: `spell ${city}`, prompt: `Spell ${city}.`, oracle: ['spelling'], answer: [...city].join('-') },
])
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const tools = [{ name: 'read', description: 'Read a skill.', parameters }]

/** Plays one episode and returns its reward: the share of the answer's characters that are right. */
async function agent(session, task) {
  session.system(`Read the skill that fits, then give the result only.\n\n${session.availableSkills()}`)
  session.user(task.prompt)
  for (;;) {
    const turn = await session.generate({ tools, maxTokens: 64 })
    for (const call of turn.toolCalls) {
      session.toolResult(call, session.readSkill(String(call.arguments.path)) ?? 'no such file')
    }
    if (turn.toolCalls.length > 0) continue
    const right = [...task.answer].filter((character, i) => turn.content[i] === character)
    return right.length / Math.max(task.answer.length, turn.content.length)
  }
}

const [model, output, steps = '20'] = process.argv.slice(2)
const skills = new URL('skills', import.meta.url).pathname
const sizes = { steps: Number(steps), groupsPerStep: 4, maxTurns: 4 }
const result = await train({ model, output, skills, tasks, agent, ...sizes })
console.log(`trained ${result.step} steps; the model is in ${result.checkpoint}/model`)
