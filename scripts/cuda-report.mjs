// Compiles the kernels with nvcc and prints what each takes: registers, shared memory, local memory, spills. Needs no GPU.
//   node scripts/cuda-report.mjs [--build build-cuda]    the addon with the CUDA backend, and the tests and benchmarks for GPUs
//   node scripts/cuda-report.mjs --arch sm_90a file.cu   one file, for one architecture
// Every kernel counts as hot, for each runs at least once a layer or once an update: the report fails on any that spills registers or
// keeps arrays in local memory, and on any warning.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { kernelsOf, problemsOf } from './cuda-report/ptxas.mjs'

const root = resolve(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { build: { type: 'string', default: 'build-cuda' }, arch: { type: 'string', default: 'sm_90a' } },
})

/** Runs a command; resolves to what it printed, both streams. */
function run(command, args) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { cwd: root })
    let text = ''
    child.stdout.on('data', (data) => (text += data))
    child.stderr.on('data', (data) => (text += data))
    child.on('error', failed)
    child.on('close', (code) =>
      code === 0 ? done(text) : failed(new Error(`${command} ended with ${code}\n${text}`)),
    )
  })
}

const strict = ['-Werror', 'all-warnings', '-Xptxas', '-v', '-Xcompiler', '-Wall,-Wextra']

/** The addon for all architectures; what make prints of one file stays together. */
async function buildAddon() {
  const folder = resolve(root, values.build)
  const options = [
    '-DCMAKE_BUILD_TYPE=Release',
    '-DSKILLGATE_CUDA=ON',
    '-DSKILLGATE_GPU_CHECK=ON',
    `-DCMAKE_CUDA_FLAGS=${strict.join(' ')}`,
  ]
  await run('cmake', ['-S', '.', '-B', folder, '-G', 'Unix Makefiles', ...options])
  return run('cmake', ['--build', folder, '-j', String(availableParallelism()), '--', '--output-sync=target'])
}

async function compileFiles() {
  const scratch = mkdtempSync(join(tmpdir(), 'skillgate-cuda-'))
  process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
  const options = ['-std=c++20', '-O3', `-arch=${values.arch}`, '-I', join(root, 'native'), ...strict]
  let text = ''
  for (const file of positionals)
    text += await run('nvcc', [...options, '-c', resolve(file), '-o', join(scratch, 'object.o')])
  return text
}

try {
  const text = await (positionals.length > 0 ? compileFiles() : buildAddon())
  const kernels = kernelsOf(text)
  const byName = (a, b) =>
    `${a.name} ${a.architecture}`.localeCompare(`${b.name} ${b.architecture}`, 'en', { numeric: true })
  const columns = ['name', 'architecture', 'registers', 'shared', 'stack', 'spills']
  const header = ['kernel', 'for', 'registers', 'shared bytes', 'local bytes', 'spilled bytes']
  const table = [header, ...kernels.sort(byName).map((kernel) => columns.map((c) => String(kernel[c])))]
  const widths = header.map((_, i) => Math.max(...table.map((row) => row[i].length)))
  for (const row of table) {
    console.log(row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '))
  }
  const problems = problemsOf(text)
  for (const problem of problems) console.error(problem)
  if (kernels.length === 0) problems.push('nothing was compiled: the folder holds a finished build')
  console.log(`${kernels.length} kernels, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
