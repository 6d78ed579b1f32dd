/** How runs went, beside what they came to: when misleading reads vanished, and whether the choice became one of all or nothing. */
import { existsSync } from 'node:fs'
import { movingMean, smoothing } from '../../dist/lib/compare/curves.js'
import { readCurve, readRunRecord } from '../../dist/lib/compare/run-record.js'
import { inFirstCall } from '../../dist/lib/credit/method.js'
import { skillLab } from '../../dist/lib/environments/skill-lab/index.js'
import { trajectoriesFile } from '../../dist/lib/recipes/run-start.js'
import { percent } from '../../dist/lib/report/format.js'
import { readTrajectories } from '../../dist/lib/rollout/trajectory-file.js'

const few = 0.1
/** Of the trials of a skill's tasks: so many that it is read always, and so few that it never is. */
const [always, never] = [7 / 8, 1 / 8]

export const courseTitles = [
  `step after which misleading reads are below ${100 * few}%`,
  `oracle reads, last ${smoothing} steps`,
  `misleading reads, last ${smoothing} steps`,
  `rollouts that read again, last ${smoothing} steps`,
  'of 24 skills: read always, never, in between',
]

export const courseNote =
  `The training, run by run (moving average of ${smoothing} steps), and the 24 right skills of the held-out tasks: read in at least 7 of 8 ` +
  'trials of their tasks, in at most 1 of 8, or in between. A policy that takes one skill of each domain, whatever is asked, has none in between.'

/** The cells of a method's runs, each with one entry a run; undefined where none is finished. */
export async function courseCells(folders) {
  const found = folders.filter((folder) => readRunRecord(folder))
  if (found.length === 0) return undefined
  const skills = await skillOfTasks()
  const each = []
  for (const folder of found) {
    const { steps } = readCurve(folder)
    const smooth = (name) =>
      movingMean(
        steps.map((step) => step[name]),
        smoothing,
      )
    const misleading = smooth('misleadingRead')
    const place = misleading.findIndex((value) => value !== undefined && value < few)
    each.push([
      place >= 0
        ? String(steps[place].step)
        : misleading.some((value) => value !== undefined)
          ? 'never'
          : '-',
      percent(smooth('oracleRead').at(-1)),
      percent(misleading.at(-1)),
      percent(await readAgain(folder, steps)),
      spread(readRunRecord(folder).sums.oracleRead, skills),
    ])
  }
  return courseTitles.map((_, i) => each.map((cells) => cells[i]).join('; '))
}

/** The share of the rollouts that read skills in more than one call, over the last steps whose trajectories are there. */
async function readAgain(folder, steps) {
  let [all, again] = [0, 0]
  for (const { step } of steps.slice(-smoothing)) {
    const file = trajectoriesFile(folder, step)
    if (!existsSync(file)) continue
    for (const { trajectories } of await readTrajectories(file))
      for (const { reads } of trajectories) {
        all += 1
        again += reads.some((read) => !inFirstCall(read, reads)) ? 1 : 0
      }
  }
  return all === 0 ? undefined : again / all
}

async function skillOfTasks() {
  const { heldOutTasks } = await skillLab()
  return new Map(heldOutTasks.map(({ id, data }) => [id, data.skill]))
}

/** `12, 5, 7`: how many skills are always read where they are right, how many never, how many sometimes. */
function spread(sums, skills) {
  const bySkill = new Map()
  for (const [task, { sum, count }] of Object.entries(sums)) {
    const before = bySkill.get(skills.get(task)) ?? { sum: 0, count: 0 }
    bySkill.set(skills.get(task), { sum: before.sum + sum, count: before.count + count })
  }
  const shares = Array.from(bySkill.values(), ({ sum, count }) => sum / count)
  const counts = [
    shares.filter((share) => share >= always).length,
    shares.filter((share) => share <= never).length,
  ]
  return [...counts, shares.length - counts[0] - counts[1]].join(', ')
}
