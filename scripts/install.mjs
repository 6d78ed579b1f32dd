// npm's install script: nothing to do where a binary loads, else build one. In order: the binary that is there; cmake-js
// where cmake is; node-gyp (CPU only) where it is not. Nothing is downloaded: the headers come from npm packages.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const require = createRequire(import.meta.url)
const say = (text) => console.log(`skillgate: ${text}`)

function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CMAKE_BUILD_PARALLEL_LEVEL: String(availableParallelism()), ...env },
  })
  if (error) say(`${command}: ${error.message}`)
  return status === 0
}

const has = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0

/** In a process of its own: a binary for another machine may crash the one that loads it. */
function loadError() {
  const load = `require(${JSON.stringify(require.resolve('node-gyp-build'))})(${JSON.stringify(root)})`
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', load], { encoding: 'utf8' })
  if (status === 0) return undefined
  return stderr.match(/^.*Error: .*$/m)?.[0] ?? (signal ? `the process ended with ${signal}` : stderr.trim())
}

/** Whether a source is newer than the binary that was built from it. */
function isStale() {
  const binary = join(root, 'build', 'Release', 'skillgate.node')
  if (!existsSync(binary)) return false
  const built = statSync(binary).mtimeMs
  const sources = readdirSync(join(root, 'native'), { recursive: true }).map((file) => join('native', file))
  return ['CMakeLists.txt', 'binding.gyp', ...sources].some(
    (file) => statSync(join(root, file)).mtimeMs > built,
  )
}

/** 3.22 and newer. */
function hasCmake() {
  const { status, stdout } = spawnSync('cmake', ['--version'], { encoding: 'utf8' })
  const [, major, minor] = stdout?.match(/version (\d+)\.(\d+)/) ?? []
  return status === 0 && (major > 3 || (major === '3' && minor >= 22))
}

/** node-gyp of npm, or one on the PATH. */
function nodeGyp() {
  const npm = process.env.npm_execpath
  const ofNpm = npm && join(dirname(npm), '..', 'node_modules', 'node-gyp', 'bin', 'node-gyp.js')
  if (ofNpm && existsSync(ofNpm)) return [process.execPath, ofNpm]
  const given = process.env.npm_config_node_gyp
  if (given && existsSync(given)) return [process.execPath, given]
  return has('node-gyp') ? ['node-gyp'] : undefined
}

/** A folder with include/node for node-gyp, so that it downloads none: Node's own, else one made of node-api-headers. */
function nodeHeaders() {
  const given = process.env.npm_config_nodedir
  if (given) return given
  for (const prefix of [resolve(dirname(process.execPath), '..'), '/usr', '/usr/local']) {
    const file = join(prefix, 'include', 'node', 'node_version.h')
    if (!existsSync(join(prefix, 'include', 'node', 'common.gypi')) || !existsSync(file)) continue
    const major = readFileSync(file, 'utf8').match(/#define NODE_MAJOR_VERSION (\d+)/)?.[1]
    if (major === process.versions.node.split('.')[0]) return prefix
  }
  const made = join(root, 'build-headers')
  mkdirSync(join(made, 'include', 'node'), { recursive: true })
  const { include_dir: include } = createRequire(require.resolve('cmake-js/package.json'))('node-api-headers')
  const settings = {
    target_defaults: {
      default_configuration: 'Release',
      configurations: { Release: {}, Debug: {} },
      cflags: ['-fPIC', '-pthread'],
      include_dirs: [include],
    },
  }
  writeFileSync(join(made, 'include', 'node', 'common.gypi'), JSON.stringify(settings))
  return made
}

function buildWithCmake() {
  say('building the addon with cmake')
  const cmakeJs = require.resolve('cmake-js/bin/cmake-js')
  return run(process.execPath, [cmakeJs, 'build', '--directory', root])
}

function buildWithNodeGyp() {
  const gyp = nodeGyp()
  if (!gyp) return false
  say('no cmake 3.22 or newer was found: building the CPU-only addon with node-gyp')
  const args = [...gyp.slice(1), 'rebuild', `--nodedir=${nodeHeaders()}`, `--jobs=${availableParallelism()}`]
  return run(gyp[0], args)
}

function missing() {
  const wanted = [
    [has('c++') || has('g++') || has('clang++'), 'a C++20 compiler (g++ 10 or clang 12 and newer)'],
    [has('make') || has('ninja'), 'make'],
    [hasCmake() || has('python3'), 'python3 (for node-gyp), or cmake 3.22'],
    [hasCmake() || nodeGyp() !== undefined, 'node-gyp (comes with npm), or cmake 3.22'],
  ]
  return wanted.filter(([there]) => !there).map(([, name]) => name)
}

const fromSource = ['true', ''].includes(process.env.npm_config_build_from_source ?? 'no')
const before = loadError()
if (before === undefined && !fromSource && !isStale()) {
  say('the addon is there and loads')
} else {
  const built = hasCmake() ? buildWithCmake() : buildWithNodeGyp()
  const after = built ? loadError() : 'the build failed; its messages are above'
  if (after !== undefined) {
    const lacking = missing()
    const cause = lacking.length > 0 ? `missing here: ${lacking.join('; ')}` : after
    console.error(
      `skillgate: there is no addon for ${process.platform}-${process.arch}, and none could be built.`,
    )
    console.error(`skillgate: ${cause}`)
    if (lacking.length > 0) {
      console.error('skillgate: Debian and Ubuntu: apt-get install g++ make python3 (or g++ cmake)')
    }
    process.exit(1)
  }
  say('the addon is built and loads')
}
