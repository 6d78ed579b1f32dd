/**
 * What is run, in less than three hours of two cores with AVX-512: settings, each of them one `skillgate compare` command, grouped into parts. Nothing in it is chosen for one method: all of
 * them have the options of skill-lab, the same starts and seeds, and a setting changes one thing for all its methods.
 */
import { join } from 'node:path'
import { comparedMethods } from '../../dist/lib/compare/options.js'
import { standardLab } from '../../dist/lib/compare/run-spec.js'

/** The runs that most others are compared with come first, so that a page can be made early on. */
const order = ['grpo', 'skillgate', 'sft', 'masked-task-only']
const all = [...order, ...comparedMethods.filter((method) => !order.includes(method))]
const mainSeeds = [0, 1, 2, 3, 4]
/** Experiments look for large effects; where outcomes are noisy, in two seeds. */
const oneSeed = [0]
const twoSeeds = [0, 1]
const both = ['grpo', 'skillgate']
/** Rollouts of a step, however they are grouped. */
const rollouts = 64

/**
 * A point of an experiment.
 * @typedef {object} Setting
 * @property {string} folder below the folder of all runs
 * @property {string[]} methods
 * @property {number[]} seeds
 * @property {object} lab what differs from the standard environment
 * @property {object} options what differs from the options of skill-lab
 * @property {number} [x] its place in the experiment's figure
 */

const setting = (folder, methods, seeds, { x, ...lab } = {}, options = {}) => ({
  ...{ folder, methods, seeds, x, options },
  lab: { ...standardLab, ...lab },
})

const main = setting('main', all, mainSeeds)
/** The main runs that stand for one point of an experiment, without running them again. */
const mainPoint = (methods, x, seeds = oneSeed) => ({
  ...setting('main', methods, seeds),
  x,
  borrowed: true,
})

/** The parts by the name that --only takes. */
export const parts = {
  main: { title: 'All methods', settings: [main] },
  lambda: {
    title: 'How much the selection channel weighs (lambda)',
    xLabel: 'Selector coefficient lambda',
    settings: [
      { ...mainPoint(['masked-task-only'], 0), shownAs: 'skillgate' },
      ...[0.05].map((x) => setting(`lambda/${x}`, ['skillgate'], oneSeed, { x }, { selectorCoefficient: x })),
      mainPoint(['skillgate'], 0.2),
      ...[0.5, 1].map((x) =>
        setting(`lambda/${x}`, ['skillgate'], oneSeed, { x }, { selectorCoefficient: x }),
      ),
    ],
    note: 'lambda 0 is masked-task-only: read calls then have no gradient at all.',
  },
  noise: {
    title: 'Wrong oracle labels',
    xLabel: 'Training tasks with a wrong label (%)',
    settings: [
      mainPoint(['skillgate'], 0),
      ...[10, 20, 40].map((x) => setting(`noise/${x}`, ['skillgate'], oneSeed, { x, wrongLabels: x / 100 })),
    ],
    note:
      'A wrong label names another candidate of the slate, any of the 15 alike. Rewards and the tasks of the evaluation keep what is true. ' +
      'grpo sees no labels: its main runs are the line to compare with.',
    reference: 'grpo',
  },
  missing: {
    title: 'Missing oracle labels',
    xLabel: 'Training tasks without a label (%)',
    settings: [
      mainPoint(['skillgate'], 0),
      ...[50].map((x) => setting(`missing/${x}`, ['skillgate'], oneSeed, { x, missingLabels: x / 100 })),
    ],
    note: 'In the group of a task without a label read calls have the credit of the outcome, as in grpo.',
    reference: 'grpo',
  },
  failures: {
    title: 'Execution that fails by chance',
    xLabel: 'Commands that break while training (%)',
    settings: [
      mainPoint(both, 0, twoSeeds),
      setting('failures/30', both, twoSeeds, { x: 30, commandFailures: 0.3 }),
    ],
    note:
      'A command of a training episode breaks with this probability, unseen, whatever was chosen, and the episode has no reward: right ' +
      'choices are blamed. Nothing breaks in the evaluation, which so measures what was learned.',
    audited: true,
  },
  groups: {
    title: 'Rollouts a group',
    xLabel: 'Rollouts of a task in a step (64 in all)',
    settings: [
      ...[2, 4].map((x) => setting(`groups/${x}`, both, oneSeed, { x }, groupsOf(x))),
      mainPoint(both, 8, oneSeed),
      ...[16].map((x) => setting(`groups/${x}`, both, oneSeed, { x }, groupsOf(x))),
    ],
  },
  horizon: {
    title: 'Length of the execution',
    xLabel: 'Times the steps of a skill are to be run',
    settings: [1, 2, 4].map((x) =>
      setting(`horizon/${x}`, both, oneSeed, { x, horizon: x, commandFailures: 0.05 }),
    ),
    note:
      'The longer the execution, the smaller the part of the tokens that choose, and the more often a right choice fails: each command of a ' +
      'training episode breaks with probability 5%. Each length has a start of its own, taught by demonstrations of that length.',
    audited: true,
  },
  slates: {
    title: 'Candidates in a slate',
    xLabel: 'Candidates shown',
    settings: [
      setting('slates/4', both, oneSeed, { x: 4, slateSize: 4 }),
      mainPoint(both, 16, oneSeed),
      setting('slates/64', both, oneSeed, { x: 64, slateSize: 64 }),
    ],
    note: 'Each size has a start of its own, taught with slates of 4 and of that size.',
  },
}

function groupsOf(groupSize) {
  return { groupSize, groupsPerStep: rollouts / groupSize }
}

/** Two methods, two seeds, nothing else. */
export const quickParts = {
  main: { title: 'Two methods, two seeds', settings: [setting('quick', both, [0, 1])] },
}

/** Experiments beyond the three hours: each is played where it is asked for, and has a page of its own. */
export const extras = {
  sampling: {
    title: 'Which groups are trained on',
    xLabel: 'Commands that break while training (%)',
    settings: [0, 30].flatMap((x) => [
      setting(x === 0 ? 'main' : `failures/${x}`, both, mainSeeds, { x, commandFailures: x / 100 }),
      {
        ...setting(...[`sampling/${x}`, ['skillgate'], mainSeeds, { x, commandFailures: x / 100 }], {
          dynamicSamplingBy: 'credit',
        }),
        shownAs: 'skillgate by credit',
      },
    ]),
    note:
      'A group whose rewards are all equal is dropped and another task drawn: so it is published, and so `grpo` and `skillgate` do here. By credit ' +
      '(`--dynamic-sampling-by credit`) a group is dropped only where the method does not tell its reads apart either. For `grpo` that is the same. ' +
      'All have 8 groups to train on in a step, where 16 draws give as many.',
    audited: true,
  },
}

/** The order of methods in tables and figures. */
export const shownOrder = [
  ...[
    'sft',
    'grpo',
    'skill-free',
    'masked-task-only',
    'trajectory-bonus',
    'first-oracle',
    'skillgate',
    'skillgate-auto',
    'skillgate-once',
  ],
  ...['selection-bc', 'selection-dpo'],
]

/** What the demonstrations of a start show. */
export const startKind = ({ lab }) => `horizon-${lab.horizon}-slate-${lab.slateSize}`

/** Where the start of a setting's runs with a seed is. Every seed has a start of its own: how good it is differs more than what is done with it. */
export const startName = (setting, seed) => join(startKind(setting), `seed-${seed}`)

/** The settings that have runs of their own, each with the name of its part. */
export function ownSettings(chosen) {
  return Object.entries(chosen).flatMap(([part, { settings }]) =>
    settings.filter(({ borrowed }) => !borrowed).map((setting) => ({ ...setting, part })),
  )
}
