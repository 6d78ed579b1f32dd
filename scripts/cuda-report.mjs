// Compiles every kernel of native/cuda with nvcc and prints what each takes: registers, shared memory, spills.
//   node scripts/cuda-report.mjs [--arch sm_80,sm_90a,sm_100] [--jobs 2] [file.cu ...]
// Fails on any warning, and on any kernel that spills registers or keeps arrays in local memory. Needs no GPU.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folder = join(root, 'native', 'cuda')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    arch: { type: 'string', default: 'sm_80,sm_90a,sm_100' },
    jobs: { type: 'string', default: String(Math.min(2, cpus().length)) },
  },
})
const architectures = values.arch.split(',')
const newest = architectures.at(-1).replace(/^sm_/, '').replace(/\D+$/, '')
const sources = positionals.length
  ? positionals
  : readdirSync(folder)
      .filter((file) => file.endsWith('.cu'))
      .map((file) => join(folder, file))

const scratch = mkdtempSync(join(tmpdir(), 'skillgate-cuda-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** Machine code for each architecture, and PTX of the newest for those to come. */
const generate = [
  ...architectures.flatMap((arch) => ['-gencode', `arch=${arch.replace('sm_', 'compute_')},code=${arch}`]),
  ...['-gencode', `arch=compute_${newest},code=compute_${newest}`],
]

/** Runs nvcc on one file; resolves to its output, both streams, and exit code. */
function compile(source) {
  const output = join(scratch, `${basename(source)}.o`)
  const options = [
    '-std=c++20',
    '-O3',
    '-I',
    join(root, 'native'),
    '-Xptxas',
    '-v',
    '-Xcompiler',
    '-Wall,-Wextra',
  ]
  return new Promise((resolve) => {
    const nvcc = spawn('nvcc', [...options, ...generate, '-c', source, '-o', output])
    let text = ''
    nvcc.stdout.on('data', (data) => (text += data))
    nvcc.stderr.on('data', (data) => (text += data))
    nvcc.on('error', (error) => resolve({ code: 127, text: `nvcc cannot be run: ${error.message}` }))
    nvcc.on('close', (code) => resolve({ code, text }))
  })
}

/** `_ZN..24attention_dq_bf16_kernelILi64EEEv..` -> `attention_dq_bf16_kernel<64>`. */
function readable(mangled) {
  // A word stands behind its length; the digits before that may belong to what precedes it.
  let name
  let rest = ''
  for (const { 0: digits, index } of mangled.matchAll(/\d+/g)) {
    const start = index + digits.length
    for (let from = 0; from < digits.length && !name; from++) {
      const word = mangled.slice(start, start + Number(digits.slice(from)))
      if (!/^[a-z]\w*_kernel$/.test(word) || word.length !== Number(digits.slice(from))) continue
      name = word
      rest = mangled.slice(start + word.length)
    }
  }
  if (!name?.length || !rest.startsWith('I')) return name ?? mangled
  const parts = []
  let list = rest.slice(1).replace(/S\w?_/g, '')
  while (list && !/^E?Ev/.test(list)) {
    const literal = list.match(/^L[a-z](\d+)E/)
    const length = list.match(/^\d+/)?.[0]
    if (literal) parts.push(literal[1])
    const word = length ? list.slice(length.length, length.length + Number(length)) : ''
    if (word && !word.startsWith('_GLOBAL_')) parts.push(word)
    list = list.slice(literal ? literal[0].length : length ? length.length + word.length : 1)
  }
  return `${name}<${parts.join(', ')}>`
}

/** What ptxas -v says of each kernel. */
function kernelsOf(text) {
  const kernels = []
  for (const part of text.split('Compiling entry function ').slice(1)) {
    const number = (pattern) => Number(part.match(pattern)?.[1] ?? 0)
    kernels.push({
      name: readable(part.match(/^'([^']+)'/)[1]),
      architecture: part.match(/for '([^']+)'/)[1],
      registers: number(/Used (\d+) registers/),
      shared: number(/(\d+) bytes smem/),
      stack: number(/(\d+) bytes stack frame/),
      spills: number(/(\d+) bytes spill stores/) + number(/(\d+) bytes spill loads/),
    })
  }
  return kernels
}

const rows = []
const problems = []
const queue = [...sources]
async function work() {
  for (let source = queue.shift(); source; source = queue.shift()) {
    const { code, text } = await compile(source)
    const complaints = text.split('\n').filter((line) => /\b(warning|error)\b/i.test(line))
    if (code !== 0 || complaints.length) {
      problems.push(`${basename(source)}: nvcc ended with ${code}\n${complaints.join('\n') || text}`)
    }
    for (const kernel of kernelsOf(text)) {
      rows.push({ file: basename(source), ...kernel })
      if (kernel.stack || kernel.spills) {
        const { name, architecture, stack, spills } = kernel
        problems.push(
          `${basename(source)}: ${name} (${architecture}): ${stack} bytes of local memory, ${spills} of spills`,
        )
      }
    }
  }
}
await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, work))

rows.sort((a, b) =>
  `${a.file} ${a.name} ${a.architecture}`.localeCompare(`${b.file} ${b.name} ${b.architecture}`, 'en', {
    numeric: true,
  }),
)
const header = ['file', 'kernel', 'for', 'registers', 'shared bytes', 'local bytes', 'spilled bytes']
const table = [
  header,
  ...rows.map((r) => [r.file, r.name, r.architecture, r.registers, r.shared, r.stack, r.spills].map(String)),
]
const widths = header.map((_, i) => Math.max(...table.map((row) => row[i].length)))
for (const row of table) {
  console.log(row.map((cell, i) => (i < 3 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '))
}
console.log(`\n${sources.length} files, ${rows.length} kernels for ${architectures.join(', ')} and PTX`)
for (const problem of problems) console.error(problem)
console.log(
  `${rows.length ? sources.length - new Set(problems.map((p) => p.split(':')[0])).size : 0} passed, ${problems.length} failed`,
)
process.exitCode = problems.length || !rows.length ? 1 : 0
