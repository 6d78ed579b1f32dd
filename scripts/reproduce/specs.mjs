/** From settings to runs and to the commands that make them. */
import { join } from 'node:path'
import { labTraining } from '../../dist/lib/cli/compare.js'
import { standardLab } from '../../dist/lib/compare/run-spec.js'
import { shownOrder } from './plan.mjs'

export const runFolder = (root, { folder }, method, seed) =>
  join(root, folder, 'runs', method, `seed-${seed}`)

/** Folders of a setting's runs by method, in the order they are shown in. */
export const variantsOf = (root, setting) =>
  shownOrder
    .filter((method) => setting.methods.includes(method))
    .map((method) => ({
      variant: setting.shownAs ?? method,
      folders: setting.seeds.map((seed) => runFolder(root, setting, method, seed)),
    }))

/** Every run of a setting, the first seed of every method before the second; `models` has the start of each seed. */
export async function specsOf(root, setting, models, engine) {
  const options = { ...(await labTraining(setting.lab)), ...engine, ...setting.options }
  return setting.seeds.flatMap((seed) =>
    setting.methods.map((method) => ({
      ...{ method, seed, model: models.get(seed), options, lab: setting.lab },
      variant: setting.folder === 'main' ? method : `${setting.folder} ${method}`,
      output: runFolder(root, setting, method, seed),
    })),
  )
}

/** Where the page's commands put their runs, whatever folder these were in. */
export const shownRoot = join('runs', 'reproduce')

const flag = (name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** The command that makes the runs of a setting by itself. */
export function commandOf(root, setting) {
  const { folder, methods, seeds, lab, options } = setting
  const { seed: environmentSeed, ...place } = lab
  const words = Object.entries({
    ...differing(place),
    ...(environmentSeed && { environmentSeed }),
    ...options,
  })
  return [
    'npx skillgate compare',
    `--methods ${methods.join(',')} --seeds ${seeds.join(',')} --own-starts --jobs 2`,
    ...words.map(([name, value]) =>
      value === false ? `--no-${flag(name).slice(2)}` : `${flag(name)} ${value}`,
    ),
    `--output ${join(root, folder)}`,
  ].join(' ')
}

const differing = (lab) =>
  Object.fromEntries(Object.entries(lab).filter(([name, value]) => standardLab[name] !== value))
