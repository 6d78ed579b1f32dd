import { expect, it } from 'vitest'

const { systemNeeds } = await import(
  new URL('../../scripts/stage-native/system-needs.mjs', import.meta.url).href
)

it('names the libraries and the newest version of each family of symbols', () => {
  const text = `
Dynamic Section:
  NEEDED               libstdc++.so.6
  NEEDED               libc.so.6
  INIT                 0x0000000000009000

Version References:
  required from libc.so.6:
    0x06969187 0x00 26 GLIBC_2.9
    0x06969189 0x00 16 GLIBC_2.34
    0x09691a75 0x00 13 GLIBC_2.2.5
  required from libstdc++.so.6:
    0x0297f870 0x00 05 GLIBCXX_3.4.30
    0x08922974 0x00 04 GLIBCXX_3.4.9
    0x056bafd3 0x00 03 CXXABI_1.3
`
  expect(systemNeeds(text)).toEqual({
    libraries: ['libstdc++.so.6', 'libc.so.6'],
    floors: { GLIBC: '2.34', GLIBCXX: '3.4.30', CXXABI: '1.3' },
  })
})
