import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Who may import whom below lib/; a target is a folder, or one file of it. `errors` is open to all. */
const libraryArrows: Record<string, readonly string[]> = {
  recipes: ['rollout', 'credit', 'update', 'checkpoint', 'eval', 'config', 'report'],
  eval: ['rollout/trajectory', 'credit', 'skills'],
  audit: ['rollout/trajectory', 'credit', 'skills', 'report/figures', 'report/table'],
  compare: ['rollout/trajectory', 'eval', 'checkpoint', 'config', 'report'],
  rollout: ['policy', 'skills', 'tasks'],
  credit: ['rollout/trajectory', 'skills', 'addon'],
  update: ['credit', 'policy', 'addon'],
  policy: ['addon'],
  environments: ['rollout', 'skills', 'tasks'],
  addon: [],
  skills: [],
  tasks: [],
  config: [],
  checkpoint: [],
  report: [],
  errors: [],
}

/** `binding -> {train, model, io} -> backend <- {cpu, cuda}`; the middle three are a stack of their own. */
const nativeArrows: Record<string, readonly string[]> = {
  binding: ['train', 'model', 'io', 'backend'],
  train: ['model', 'io', 'backend'],
  model: ['io', 'backend'],
  io: ['backend'],
  backend: [],
  cpu: ['backend'],
  cuda: ['backend'],
}

/** The one file that knows which devices there are. */
const registry = { file: 'backend/registry.cc', opens: ['cpu/cpu_backend.h', 'cuda/cuda_backend.h'] }

interface Arrow {
  file: string
  from: string
  /** Path below the tree, without its ending. */
  to: string
}

function sourceFiles(tree: string, ending: RegExp): string[] {
  const entries = readdirSync(tree, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(tree, join(entry.parentPath, entry.name)))
    .sort()
}

/** `lib/cli.ts` belongs to `cli`, `lib/cli/help.ts` too. */
const areaOf = (path: string) => path.split('/')[0]!.replace(/\.\w+$/, '')

function importsOf(text: string): string[] {
  const statements = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"\n]*(?:\{[^}]*\}[^'"\n]*)?['"]([^'"]+)['"]/g,
  )
  const calls = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)
  return [...statements, ...calls].map((match) => match[1]!)
}

function libraryImports(tree: string): Arrow[] {
  return sourceFiles(tree, /\.ts$/).flatMap((file) =>
    importsOf(readFileSync(join(tree, file), 'utf8'))
      .filter((target) => target.startsWith('.'))
      .map((target) => ({
        file,
        from: areaOf(file),
        to: normalize(join(dirname(file), target)).replace(/\.js$/, ''),
      })),
  )
}

function nativeIncludes(tree: string): Arrow[] {
  return sourceFiles(tree, /\.(h|cc|cu|cuh)$/).flatMap((file) =>
    [...readFileSync(join(tree, file), 'utf8').matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)].map((match) => ({
      file,
      from: areaOf(file),
      to: match[1]!,
    })),
  )
}

function allowed(arrow: Arrow, arrows: Record<string, readonly string[]>): boolean {
  const { from, to } = arrow
  if (to.startsWith('..')) return false
  if (from === areaOf(to) || areaOf(to) === 'errors') return true
  return (arrows[from] ?? []).some((target) => to === target || to.startsWith(`${target}/`))
}

describe('lib/', () => {
  const imports = libraryImports('lib')
  it('has no folder without a rule', () => {
    const areas = new Set(imports.map(({ from }) => from))
    const known = [...Object.keys(libraryArrows), 'index', 'cli']
    expect([...areas].filter((area) => !known.includes(area))).toEqual([])
  })
  it('imports along the allowed arrows only', () => {
    const free = (arrow: Arrow) => arrow.from === 'index' || arrow.from === 'cli'
    const wrong = imports.filter((arrow) => !free(arrow) && !allowed(arrow, libraryArrows))
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
  })
  it('stays inside lib/, and nothing imports the command line', () => {
    const out = imports.filter(
      ({ from, to }) => to.startsWith('..') || (areaOf(to) === 'cli' && from !== 'cli'),
    )
    expect(out.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
  })
})

describe('native/', () => {
  const includes = nativeIncludes('native')
  it('includes along the allowed arrows only', () => {
    const opens = ({ file, to }: Arrow) => file === registry.file && registry.opens.includes(to)
    const wrong = includes.filter((arrow) => !opens(arrow) && !allowed(arrow, nativeArrows))
    expect(wrong.map(({ file, to }) => `${file} -> ${to}`)).toEqual([])
  })
  it('keeps Node-API inside binding/', () => {
    const files = sourceFiles('native', /\.(h|cc|cu|cuh)$/).filter((file) => areaOf(file) !== 'binding')
    const nodeHeaders = /#\s*include\s+[<"](napi|node_api|js_native_api|uv)\b/
    expect(files.filter((file) => nodeHeaders.test(readFileSync(join('native', file), 'utf8')))).toEqual([])
  })
})

describe('the reading of imports', () => {
  it('finds each form', () => {
    const text = [
      "import a from './a.js'",
      "import type { B,\n  C } from './b.js'",
      "export * from './c.js'",
      "export { d } from './d.js'",
      "import './e.js'",
      "const f = await import('./f.js')",
      "const text = 'from ./g.js'",
    ].join('\n')
    expect(importsOf(text)).toEqual(['./a.js', './b.js', './c.js', './d.js', './e.js', './f.js'])
  })
  it('tells allowed arrows from others', () => {
    const at = (from: string, to: string) => allowed({ file: 'x', from, to }, libraryArrows)
    expect([
      at('credit', 'rollout/trajectory'),
      at('credit', 'errors'),
      at('credit', 'credit/score'),
    ]).toEqual([true, true, true])
    expect([
      at('credit', 'rollout/collect'),
      at('rollout', 'credit/reads'),
      at('config', 'recipes/rl'),
    ]).toEqual([false, false, false])
  })
})
