import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { diagnose } from '../../lib/addon/doctor.js'
import { packageVersion } from '../../lib/addon/package-root.js'

test('tells the versions, the binary, and what the CPU backend runs on', () => {
  const found = diagnose()
  expect(found.skillgate).toBe(packageVersion())
  expect(found.system).toMatchObject({
    platform: process.platform,
    arch: process.arch,
    node: process.version,
  })
  if ('error' in found.addon) expect.unreachable(found.addon.error)
  else {
    expect(existsSync(found.addon.file)).toBe(true)
    expect(found.addon.build.version).toBe(found.skillgate)
    expect(found.addon.build.compiler).toMatch(/^(gcc|clang) \d+/)
  }
  expect(found.cpuBackend?.works).toBe(true)
  const best = found.instructionSets.find(({ available }) => available)
  expect(found.cpuBackend?.text).toContain(best?.name)
  expect(found.instructionSets.at(-1)).toEqual({ name: 'portable', available: true })
})

test('a device that does not open says why', () => {
  const { cudaBackend } = diagnose()
  if (cudaBackend?.works) expect(cudaBackend.text).toMatch(/^cuda: /)
  else expect(cudaBackend?.text).toMatch(/CUDA|driver|GPU/)
})
