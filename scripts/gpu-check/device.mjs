import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { MissingError } from './command.mjs'

/** The first GPU that is visible: { name, architecture: '90', driver, memoryMiB }. */
export function findGpu() {
  const fields = ['name', 'compute_cap', 'driver_version', 'memory.total']
  const { status, stdout, stderr, error } = spawnSync(
    'nvidia-smi',
    [`--query-gpu=${fields.join()}`, '--format=csv,noheader,nounits'],
    { encoding: 'utf8' },
  )
  if (error) throw new MissingError('no GPU to check: nvidia-smi was not found, so there is no NVIDIA driver')
  if (status !== 0) throw new MissingError(`no GPU to check: nvidia-smi: ${(stdout + stderr).trim()}`)
  return parseGpu(stdout)
}

/** From the lines of nvidia-smi, one a GPU. */
export function parseGpu(text) {
  const [name, capability, driver, memory] = text
    .trim()
    .split('\n')[0]
    .split(',')
    .map((part) => part.trim())
  if (!/^\d+\.\d+$/.test(capability ?? ''))
    throw new MissingError(`no GPU to check: nvidia-smi lists none: ${text.trim()}`)
  const number = capability.replace('.', '')
  // Tensor cores of sm_90 and newer have instructions of their own.
  return { name, architecture: number === '90' ? '90a' : number, driver, memoryMiB: Number(memory) }
}

export function findNvcc() {
  const onPath = spawnSync('sh', ['-c', 'command -v nvcc'], { encoding: 'utf8' }).stdout.trim()
  const found = [process.env.CUDACXX, onPath, '/usr/local/cuda/bin/nvcc'].find(
    (file) => file && existsSync(file),
  )
  if (!found)
    throw new MissingError(
      'a GPU is there, but no nvcc to build for it: install the CUDA toolkit or set CUDACXX',
    )
  return found
}
