import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..', '..')

/**
 * lib/errors, lib/addon and the native policy as JavaScript in a folder inside the package, for processes and worker
 * threads that know no TypeScript.
 */
export function compileAddonModules(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(root, 'build-test-'))
  const addon = readdirSync(join(root, 'lib', 'addon')).map((name) => `addon/${name}`)
  for (const name of ['errors.ts', 'policy/native-policy.ts', 'policy/on-abort.ts', ...addon]) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, 'lib', name), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    })
    const file = join(folder, name.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, outputText)
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}
