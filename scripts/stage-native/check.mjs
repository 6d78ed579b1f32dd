// Packs the package with its staged binary, installs it with --ignore-scripts in an empty folder, and trains there, in the main thread
// and in a worker at the same time:
//   npm run stage:native && node scripts/stage-native/check.mjs
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'skillgate-staged-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })

const staged = join(root, 'prebuilds', `${process.platform}-${process.arch}`)
if (!existsSync(staged)) throw new Error(`${staged} is not there: run npm run stage:native`)
run('npm', ['pack', '--silent', '--pack-destination', folder], root)
const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
run(
  'npm',
  ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', join(folder, tarball)],
  folder,
)
const installed = join(folder, 'node_modules', 'skillgate')
if (existsSync(join(installed, 'build'))) throw new Error('the tarball holds a build folder')
copyFileSync(join(import.meta.dirname, 'train-step.mjs'), join(folder, 'train-step.mjs'))
run(process.execPath, ['train-step.mjs'], folder)
