import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A copy of the package in `folder` that loads `addon`: the one that was built for users stays as it is. */
export function copyPackage(root, folder, addon) {
  for (const part of ['package.json', 'dist', 'lib', join('test', 'emulation', 'skill-lab-run.mjs')]) {
    cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'build', 'Release'), { recursive: true })
  cpSync(addon, join(folder, 'build', 'Release', 'skillgate.node'))
}
