import { describe, expect, test } from 'vitest'
import { explainLoadFailure } from '../../lib/addon/load-failure.js'

const system = { platform: 'linux', arch: 'x64', node: 'v20.20.2', libc: 'glibc 2.31' }
const file = '/app/node_modules/skillgate/build/Release/skillgate.node'
const explain = (message: string, code?: string, facts = system) =>
  explainLoadFailure({ root: '/app/node_modules/skillgate', tried: [{ file, message, code }], system: facts })

test('says the platform, each file tried and what dlopen said', () => {
  const message = explain('some reason')
  for (const part of ['linux-x64', 'glibc 2.31', 'v20.20.2', file, 'some reason', 'npm rebuild skillgate']) {
    expect(message).toContain(part)
  }
})

test('nothing found: the install script did not run, for each package manager', () => {
  const message = explainLoadFailure({ root: '/app/node_modules/skillgate', tried: [], system })
  for (const part of [
    '/app/node_modules/skillgate/build/Release',
    'npm install-scripts approve skillgate && npm rebuild skillgate',
    'pnpm approve-builds',
    'bun pm trust skillgate',
    'g++ 10',
  ]) {
    expect(message).toContain(part)
  }
})

describe('the remedy fits the cause', () => {
  test.each([
    ["/lib/libc.so.6: version `GLIBC_2.34' not found (required by x.node)", 'needs GLIBC_2.34', 'glibc 2.31'],
    ["version `GLIBCXX_3.4.30' not found", 'needs GLIBCXX_3.4.30', '--build-from-source'],
    [
      'libstdc++.so.6: cannot open shared object file: No such file',
      'lacks libstdc++.so.6',
      'apt-get install',
    ],
    ['x.node: undefined symbol: _ZN9skillgate4openEv', 'incomplete', '--build-from-source'],
    ['x.node: invalid ELF header', 'not built for x64', '--build-from-source'],
    ['x.node: file too short', 'incomplete', '--build-from-source'],
    ['Error relocating x.node: __printf_chk: symbol not found', 'another C library', '--build-from-source'],
  ])('%s', (message, ...parts) => {
    for (const part of parts) expect(explain(message)).toContain(part)
  })

  test('addons switched off', () => {
    const message = 'Cannot load native addon because loading addons is disabled.'
    expect(explain(message, 'ERR_DLOPEN_DISABLED')).toContain('--no-addons')
  })

  test('musl', () => {
    const message = 'Error loading shared library ld-linux-x86-64.so.2: No such file or directory'
    const explained = explain(message, undefined, { ...system, libc: 'musl' })
    expect(explained).toContain('this system has musl')
    expect(explained).toContain('apk add')
  })
})
