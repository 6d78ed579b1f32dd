import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { loadedAddon } from '../../lib/addon/load-addon.js'
import { packageRoot } from '../../lib/addon/package-root.js'
import { compileAddonModules } from '../binding/compiled.js'

const compiled = compileAddonModules()
const scratch = mkdtempSync(join(tmpdir(), 'skillgate-'))
afterAll(() => {
  compiled.remove()
  rmSync(scratch, { recursive: true })
})

/** An installed package without a binary. */
let root = ''
let packages = 0
beforeEach(() => {
  root = join(scratch, `package-${packages++}`)
  mkdirSync(join(root, 'build', 'Release'), { recursive: true })
  cpSync(compiled.folder, join(root, 'lib'), { recursive: true })
  copyFileSync(join(packageRoot(), 'package.json'), join(root, 'package.json'))
  symlinkSync(join(packageRoot(), 'node_modules'), join(root, 'node_modules'))
})

function load(...flags: string[]) {
  const script = `
    import { loadAddon } from ${JSON.stringify(join(root, 'lib/addon/load-addon.js'))}
    try { console.log(Object.keys(loadAddon()).sort().join()) }
    catch (error) { console.log(error.name, error.code, error.message) }`
  const { stdout } = spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  return stdout
}
const prebuilds = () => {
  const folder = join(root, 'prebuilds', `${process.platform}-${process.arch}`)
  mkdirSync(folder, { recursive: true })
  return folder
}

test('nothing there', () => {
  const output = load()
  expect(output).toContain('SkillgateError ERR_ADDON')
  expect(output).toContain(`${root}/build/Release holds no .node file`)
  expect(output).toContain('npm rebuild skillgate')
})

test('a file that is no binary is named, with what dlopen says', () => {
  writeFileSync(join(root, 'build', 'Release', 'skillgate.node'), 'not a binary')
  const output = load()
  expect(output).toContain('ERR_ADDON')
  expect(output).toContain(join(root, 'build', 'Release', 'skillgate.node'))
  expect(output).toMatch(/file too short|invalid ELF|slice is not valid/)
})

test('a prebuilt is taken where the build is broken', () => {
  writeFileSync(join(root, 'build', 'Release', 'skillgate.node'), 'not a binary')
  copyFileSync(loadedAddon().file, join(prebuilds(), 'skillgate.glibc.node'))
  expect(load()).toBe('buildInfo,describeDevice,loadPolicy,maskTokens,policyLoss,stopAll\n')
})

test('a prebuilt is enough', () => {
  rmSync(join(root, 'build'), { recursive: true })
  copyFileSync(loadedAddon().file, join(prebuilds(), 'skillgate.glibc.node'))
  expect(load()).toContain('policyLoss')
})

test('node --no-addons', () => {
  copyFileSync(loadedAddon().file, join(root, 'build', 'Release', 'skillgate.node'))
  expect(load()).toContain('policyLoss')
  expect(load('--no-addons')).toContain('Node was started with --no-addons')
})
