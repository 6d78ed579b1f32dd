/** With what, on what and in what time the runs were made. */
import { labTraining } from '../../dist/lib/cli/compare.js'
import { readRunRecord } from '../../dist/lib/compare/run-record.js'
import { markdownTable } from '../../dist/lib/compare/tables.js'
import { rlOptions } from '../../dist/lib/config/rl-options.js'
import { skillLab } from '../../dist/lib/environments/skill-lab/index.js'
import { duration } from '../../dist/lib/report/format.js'
import { ownSettings } from './plan.mjs'
import { readSessions } from './sessions.mjs'
import { runFolder } from './specs.mjs'

const listed = [
  ...[
    'steps',
    'groupsPerStep',
    'groupSize',
    'learningRate',
    'betas',
    'weightDecay',
    'maxGradNorm',
    'klCoefficient',
  ],
  ...['clipLow', 'clipHigh', 'selectorCoefficient', 'dynamicSampling', 'overSampling', 'temperature'],
  ...['maxTurns', 'maxTokensPerTurn', 'maxTokens', 'evalTasks', 'evalTemperature', 'evalTopP'],
]

/** Hyper-parameters of every run, and how they were chosen. */
export async function settingsText({ lab }) {
  const { defaults } = await skillLab(lab)
  const given = await labTraining(lab)
  const rows = listed.map((name) => {
    const value = given[name] ?? rlOptions.shape[name].parse(undefined)
    return [name, String(value)]
  })
  const { demonstrations, batchSize, learningRate, schedule } = defaults.sft
  return [
    '## Settings',
    'All methods have the same starts, tasks, steps, rollouts and options; a setting of an experiment changes one thing for all its methods. ' +
      'The options of skill-lab (size of the model, demonstrations, steps, learning rate) were set before any comparison, by watching ' +
      '`npm start`, which trains with `skillgate`: if they favour a method, it is that one. What skill-lab does not set has the published ' +
      'value. No option was searched for any method here. `trajectory-bonus` has its published bonuses, `selection-dpo` its published beta; ' +
      'the two selection methods see as many tasks a step as the others, and no rollouts.',
    `A start: a Qwen3-type model with random weights, taught by ${demonstrations} demonstrations in batches of ${batchSize}, ` +
      `learning rate ${learningRate}, ${schedule}. A run with seed s has a start of its own, whose weights and demonstrations are drawn by s, and ` +
      'draws its tasks, slates and rollouts by s; its evaluation, too: the same for all methods. The tasks themselves have seed 0. The evaluation plays every held-out task once, with other phrasings ' +
      'and files than those of training.',
    markdownTable({ titles: ['option', 'value'], rows }),
  ].join('\n\n')
}

/** What the runs took. */
export function timesText(shown, root) {
  const rows = ownSettings(shown).flatMap((setting) =>
    setting.methods.flatMap((method) => {
      const records = setting.seeds.flatMap(
        (seed) => readRunRecord(runFolder(root, setting, method, seed)) ?? [],
      )
      if (records.length === 0) return []
      const mean = (of) => records.reduce((sum, record) => sum + of(record), 0) / records.length
      const threads = [...new Set(records.map((record) => record.threads))].join(', ')
      return [
        [
          ...[setting.folder, method, String(records.length), threads],
          ...[
            duration(mean(({ seconds }) => seconds.training)),
            duration(mean(({ seconds }) => seconds.evaluation)),
          ],
          records
            .map(({ finishedAt }) => finishedAt.slice(0, 16))
            .sort()
            .at(-1),
        ],
      ]
    }),
  )
  const titles = [
    'setting',
    'method',
    'runs',
    'threads',
    'training, mean',
    'evaluation, mean',
    'last finished (UTC)',
  ]
  return `## Times\n\nWall clock of a run; other runs and other work were going on at the same time.\n\n${markdownTable({ titles, rows })}`
}

/** Commit, build and machine of every session. */
export function sessionsText(root) {
  const rows = readSessions(root).map(({ session, end = '-', commit, addon, cpu, cores }) => [
    session.slice(0, 16),
    end.slice(0, 16),
    commit,
    addon,
    `${cpu}, ${cores} cores`,
  ])
  const titles = ['begun (UTC)', 'ended', 'commit', 'addon (SHA-256)', 'machine']
  return `## Made with\n\nA line for each time the script played runs.\n\n${markdownTable({ titles, rows })}`
}
