// Makes prebuilds/<platform>-<arch>/, what an install without scripts loads:
//   npm run stage:native [-- --build <folder>]
// With the CUDA backend where there is an nvcc, unless SKILLGATE_CUDA says otherwise. Builds in <folder> (build-native), goes on with
// what is there, checks that the binary loads, and prints what it needs of the system.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { systemNeeds } from './stage-native/system-needs.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { build: { type: 'string', default: 'build-native' } } })
const build = resolve(root, values.build)

function run(command, args, options = {}) {
  const { status, error, stdout } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (error?.code === 'ENOENT') fail(`${command} was not found; stage:native needs cmake 3.22, make and g++`)
  if (status !== 0) fail(`${command} ${args.join(' ')} ended with ${status ?? error?.message}`)
  return stdout
}

function fail(text) {
  console.error(`stage:native: ${text}`)
  process.exit(1)
}

/** node-gyp-build reads it off the name: a binary made for glibc must not be taken on a system with musl. */
function fileName() {
  if (process.platform !== 'linux') return 'skillgate.node'
  return `skillgate.${process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl'}.node`
}

const cuda = process.env.SKILLGATE_CUDA ?? 'AUTO'
run('cmake', ['-S', '.', '-B', build, '-DCMAKE_BUILD_TYPE=Release', `-DSKILLGATE_CUDA=${cuda}`])
run('cmake', ['--build', build, '-j', String(availableParallelism())])

const folder = join(root, 'prebuilds', `${process.platform}-${process.arch}`)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const file = join(folder, fileName())
copyFileSync(join(build, 'Release', 'skillgate.node'), file)
chmodSync(file, 0o755)
if (process.platform === 'linux') run('strip', ['--strip-unneeded', file])

const load = 'console.log(JSON.stringify(require(process.argv[1]).buildInfo))'
const info = JSON.parse(run(process.execPath, ['-e', load, file], { stdio: ['ignore', 'pipe', 'inherit'] }))
console.log(`${file}: ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB, ${info.compiler}`)
console.log(info.cuda ? 'with the CUDA backend' : 'for the CPU only: no nvcc was used')
if (process.platform === 'linux') {
  const { libraries, floors } = systemNeeds(run('objdump', ['-p', file], { stdio: 'pipe', encoding: 'utf8' }))
  console.log(`needs ${libraries.join(', ')}`)
  for (const [name, version] of Object.entries(floors)) console.log(`${name} ${version} or newer`)
}
