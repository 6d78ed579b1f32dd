import { describe, expect, it } from 'vitest'
import { RecentTexts } from '../../lib/policy/recent-texts.js'

describe('RecentTexts', () => {
  it('encodes a long text once, and gives copies', () => {
    const encoded: string[] = []
    const encode = (text: string) => {
      encoded.push(text)
      return Int32Array.from(text, (letter) => letter.charCodeAt(0))
    }
    const recent = new RecentTexts(2, 3)
    const first = recent.ids('aaa', encode)
    first[0] = 7
    expect(recent.ids('aaa', encode)).toEqual(Int32Array.of(97, 97, 97))
    recent.ids('ab', encode)
    recent.ids('ab', encode)
    recent.ids('bbb', encode)
    recent.ids('aaa', encode)
    recent.ids('ccc', encode)
    recent.ids('aaa', encode)
    recent.ids('bbb', encode)
    expect(encoded).toEqual(['aaa', 'ab', 'ab', 'bbb', 'ccc', 'bbb'])
  })
})
