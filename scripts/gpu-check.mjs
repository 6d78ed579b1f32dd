// For a machine with an NVIDIA GPU and nvcc, without network:
//   npm run gpu-check
// Builds for that GPU, runs every op case, the golden files and a training run against the CPU, compute-sanitizer where it is installed,
// then measures. Writes docs/gpu/<device>.md and .json within 9 minutes. Ends with 2 and writes nothing where there is no GPU to check,
// with 1 where a check fails.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { deadline, hasCommand, MissingError, say } from './gpu-check/command.mjs'
import { findGpu, findNvcc } from './gpu-check/device.mjs'
import { measure } from './gpu-check/measure.mjs'
import { copyPackage } from './gpu-check/package-copy.mjs'
import { fileNameOf, gpuPage } from './gpu-check/page.mjs'

const root = resolve(import.meta.dirname, '..')
const build = join(root, 'build-gpu')
const LIMIT_SECONDS = 540

/** The parts of the check, in order: each ends with an error, or with what is to be said of it. */
function checks({ run, gpu, nvcc, scratch }) {
  const test = join(build, 'gpu_test')
  const options = [`-DCMAKE_CUDA_ARCHITECTURES=${gpu.architecture}-real`, '-DCMAKE_BUILD_TYPE=Release']
  const jobs = ['-j', String(availableParallelism())]
  const env = { ...process.env, CUDACXX: nvcc }
  return [
    {
      name: 'build',
      seconds: 240,
      async run(seconds) {
        await run(
          'cmake',
          ['-S', root, '-B', build, '-DSKILLGATE_CUDA=ON', '-DSKILLGATE_GPU_CHECK=ON', ...options],
          { seconds, env },
        )
        await run('cmake', ['--build', build, ...jobs], { seconds, env })
        return `for sm_${gpu.architecture}`
      },
    },
    {
      name: 'op cases and golden files',
      seconds: 120,
      run: async (seconds) => (await run(test, [], { seconds })).trim().split('\n').at(-1),
    },
    {
      name: 'training against the CPU',
      seconds: 60,
      async run(seconds) {
        const folder = join(scratch, 'package')
        copyPackage(root, folder, join(build, 'Release', 'skillgate.node'))
        const script = join(folder, 'test', 'emulation', 'skill-lab-run.mjs')
        return (await run(process.execPath, [script, '--hardware'], { seconds })).trim().split('\n').at(-1)
      },
    },
    {
      name: 'compute-sanitizer',
      seconds: 90,
      async run(seconds) {
        if (!hasCommand('compute-sanitizer')) return 'not installed'
        for (const tool of ['memcheck', 'racecheck']) {
          await run('compute-sanitizer', ['--tool', tool, '--error-exitcode', '9', test, 'orders.'], {
            seconds: seconds / 2,
          })
        }
        return 'memcheck and racecheck found nothing'
      },
    },
  ]
}

async function main() {
  const run = deadline(LIMIT_SECONDS)
  const gpu = findGpu()
  const nvcc = findNvcc()
  say(`${gpu.name}, sm_${gpu.architecture}, driver ${gpu.driver}; ${nvcc}`)
  const scratch = mkdtempSync(join(tmpdir(), 'skillgate-gpu-'))
  try {
    const outcomes = []
    for (const check of checks({ run, gpu, nvcc, scratch })) {
      const began = Date.now()
      const result = await check.run(check.seconds)
      outcomes.push({ check: check.name, result, seconds: (Date.now() - began) / 1000 })
      say(`${check.name}: ${result}`)
    }
    const measured = await measure({ run, scratch, bench: join(build, 'gpu_bench') })
    const record = { date: new Date().toISOString().slice(0, 10), gpu, outcomes, ...measured }
    const folder = join(root, 'docs', 'gpu')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${fileNameOf(gpu)}.json`), `${JSON.stringify(record, null, 2)}\n`)
    writeFileSync(join(folder, `${fileNameOf(gpu)}.md`), gpuPage(record))
    say(`wrote docs/gpu/${fileNameOf(gpu)}.md and .json`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

main().catch((error) => {
  console.error(`gpu-check: ${error.message}`)
  process.exitCode = error instanceof MissingError ? 2 : 1
})
