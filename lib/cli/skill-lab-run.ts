import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SkillLab, skillLab } from '../environments/skill-lab/index.js'
import { type Measurement, measureChange, measureNames } from '../eval/measure.js'
import { measureText, measureTitles, printEvents } from '../recipes/console.js'
import { evaluate } from '../recipes/evaluate.js'
import { type TrainConfig, train } from '../recipes/rl.js'
import type { RunResult } from '../recipes/run-folder.js'
import { sft } from '../recipes/sft.js'
import { duration, interval } from '../report/format.js'
import { table } from '../report/table.js'
import type { Surroundings } from './command.js'
import { intervalNote } from './eval.js'
import { reportResult, sayHowToGoOn } from './finish.js'

/** What of the options of `train` counts for every phase. */
export type LabRunOptions = Omit<TrainConfig, 'model'> & { output: string }

const engineNames = ['device', 'threads', 'instructionSet'] as const

/** Where each phase of the built-in job keeps its files. */
const foldersOf = (output: string) => ({
  model: join(output, 'model'),
  sft: join(output, 'sft'),
  before: join(output, 'evaluation-before'),
  rl: join(output, 'rl'),
  after: join(output, 'evaluation-after'),
})

/**
 * The built-in job from beginning to end: a small model with random weights, supervised training on an imperfect teacher, evaluation,
 * reinforcement, evaluation, and what changed.
 * @param lab the environment, where another than that of the seed is wanted
 * @returns the exit code
 */
export async function runSkillLab(
  options: LabRunOptions,
  surroundings: Surroundings,
  lab?: SkillLab,
): Promise<number> {
  try {
    return await playPhases(options, surroundings, lab ?? (await skillLab({ seed: options.seed })))
  } catch (error) {
    if (!surroundings.signal.aborted) throw error
    return sayHowToGoOn('stopped', surroundings)
  }
}

async function playPhases(
  options: LabRunOptions,
  surroundings: Surroundings,
  lab: SkillLab,
): Promise<number> {
  const { progress, style, signal } = surroundings
  const { output, seed = 0, resume = false } = options
  const folders = foldersOf(output)
  const shared = { seed, signal, onEvent: printEvents(progress, style), ...pick(options, engineNames) }
  const begun = Date.now()
  const phase = (number: number, title: string, ...lines: string[]) => {
    progress.line(`\n${style.bold(`${number}/5 ${title}`)}`)
    for (const line of lines) progress.line(`  ${line}`)
  }
  progress.line(style.bold('skill-lab: teach a small model to choose the right skill and to carry it out'))
  progress.line(
    `  A task comes with 16 skills to choose from, each with a name and one line of description. One is right. Others fit by`,
  )
  progress.line(
    `  name and lead astray. The model reads a skill with a tool, then runs its steps. Files of this run: ${output}`,
  )

  phase(1, 'Make a model', 'A Qwen3-type model with random weights: it knows nothing yet.')
  if (!existsSync(join(folders.model, 'model.safetensors'))) await lab.createModel(folders.model, seed)

  const {
    demonstrations: count,
    demonstrationsPerTask: _,
    choicesOfSeven: __,
    ...sftDefaults
  } = lab.defaults.sft
  phase(
    2,
    'Learn from demonstrations (supervised)',
    `A teacher shows ${count} episodes. It is not a good one: it reads the right skill about half of the time and makes slips.`,
    'The loss is the average surprise at a token of the teacher; it should fall.',
  )
  const demonstrations = lab.demonstrations(count, seed)
  const taught = await sft({
    ...shared,
    ...sftDefaults,
    model: folders.model,
    demonstrations,
    output: folders.sft,
    resume,
  })
  if (taught.stopped) return reportResult(taught, surroundings)

  phase(
    3,
    'Measure the model on tasks it has not seen',
    'Before reinforcement: how often does it succeed, and what does it read?',
  )
  const before = await measured(lab, modelOf(taught), folders.before, shared, resume)

  phase(
    4,
    `Learn from its own attempts (reinforcement, method ${options.method ?? 'skillgate'})`,
    'It tries each task several times. Attempts that succeed are made likelier, and choosing the right skill is credited by itself.',
    'oracle: attempts that read the right skill; misleading: that read one that leads astray. The loss is near 0 by construction.',
  )
  const trained = await train({
    ...options,
    ...shared,
    model: join(modelOf(taught)),
    output: folders.rl,
    resume,
  })
  if (trained.stopped) return reportResult(trained, surroundings)

  phase(5, 'Measure again, on the same tasks with the same random choices')
  const after = await measured(lab, modelOf(trained), folders.after, shared, resume)
  progress.line(`\n${style.bold('Before and after reinforcement')}`)
  progress.line(changeTable('held-out tasks, skills known from training', before.known, after.known))
  progress.line(
    `\n${changeTable('held-out tasks, skills never seen in training', before.fresh, after.fresh)}`,
  )
  progress.line(`\n${intervalNote}\nThe changes are paired by task.`)
  progress.line(
    style.green(`\ndone in ${duration((Date.now() - begun) / 1000)}. The trained model: ${modelOf(trained)}`),
  )
  progress.line(`  one of its episodes, with the credit each token had: npx skillgate show ${folders.rl}`)
  return 0
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]])) as Pick<
    T,
    K
  >
}

function modelOf(result: RunResult): string {
  return join(result.checkpoint!, 'model')
}

interface Measured {
  known: Measurement
  /** On tasks whose right skill was in no training task. */
  fresh: Measurement
}

type Shared = Pick<TrainConfig, 'seed' | 'signal' | 'onEvent' | 'device' | 'threads' | 'instructionSet'>

async function measured(
  lab: SkillLab,
  model: string,
  output: string,
  shared: Shared,
  resume: boolean,
): Promise<Measured> {
  const { tasks: maxTasks, ...defaults } = lab.defaults.eval
  const { agent, skills } = lab
  const measure = async (name: string, tasks: SkillLab['heldOutTasks'], most: number) => {
    const folder = join(output, name)
    const done = resume ? storedMeasurement(folder) : undefined
    return (
      done ??
      (await evaluate({
        ...shared,
        ...defaults,
        model,
        agent,
        skills,
        tasks,
        maxTasks: most,
        output: folder,
      }))
    )
  }
  const known = await measure('known-skills', lab.heldOutTasks, maxTasks)
  return { known, fresh: await measure('unseen-skills', lab.heldOutSkillTasks, maxTasks >> 1) }
}

function storedMeasurement(folder: string): Measurement | undefined {
  const file = join(folder, 'evaluation.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).measurement : undefined
}

function changeTable(title: string, before: Measurement, after: Measurement): string {
  const shown = measureNames.filter((name) => name !== 'reward')
  const rows = shown.map((name) => [
    measureTitles[name],
    measureText(before, name),
    measureText(after, name),
    interval(measureChange(before, after, name), name === 'reads' ? 'number' : 'points'),
  ])
  return table(
    [
      { title: `${title} (${after.trials} trials)` },
      { title: 'before' },
      { title: 'after' },
      { title: 'change' },
    ],
    rows,
  )
}
