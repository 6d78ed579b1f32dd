import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Tokenizer } from '../../lib/policy/tokenizer.js'
import { qwen3Tokenizer } from './qwen3-tokenizer.js'
import { byteLevelFiles, byteLevelTokenizer, sentencePieceFiles } from './tiny-tokenizers.js'

const text = (tokenizer: Tokenizer, ids: ArrayLike<number>) =>
  Buffer.concat(Array.from(ids, (id) => tokenizer.bytesOf(id))).toString()

describe('byte-level tokens', () => {
  const tokenizer = byteLevelTokenizer()

  it('gives each byte token its byte, and merges theirs', () => {
    for (let byte = 0; byte < 256; byte++) expect([...tokenizer.bytesOf(byte)]).toEqual([byte])
    expect(tokenizer.textOf(tokenizer.encode('hello wor'))).toBe('hello wor')
    expect([...tokenizer.encode('ä')].map((id) => [...tokenizer.bytesOf(id)])).toEqual([[0xc3, 0xa4]])
  })

  it('gives added tokens the bytes of their text', () => {
    const id = tokenizer.idOf('<|im_end|>')!
    expect(Buffer.from(tokenizer.bytesOf(id)).toString()).toBe('<|im_end|>')
    expect(tokenizer.isSpecial(id)).toBe(true)
    expect(tokenizer.isSpecial(tokenizer.idOf('<tool_call>')!)).toBe(false)
    expect(tokenizer.isAdded(tokenizer.idOf('<tool_call>')!)).toBe(true)
  })

  it('keeps any text, byte for byte', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('<|im_end|>', '👩‍👩‍👧‍👦', 'é', '北京', '\r\n\t'),
    )
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const whole = units.join('')
        expect(text(tokenizer, tokenizer.encode(whole))).toBe(whole)
      }),
    )
  })

  it('joins characters that are split between tokens, and shows lone bytes as U+FFFD', () => {
    expect(tokenizer.textOf([0xf0, 0x9f, 0xa6, 0x8a])).toBe('🦊')
    expect(tokenizer.textOf([0xf0, 0x9f])).toBe('\uFFFD')
    expect(tokenizer.textOf([])).toBe('')
  })

  it('recognises special tokens in a text and adds none unasked', () => {
    const withBos = byteLevelTokenizer({ bos: '<|begin_of_text|>', addBos: true })
    const bos = withBos.idOf('<|begin_of_text|>')
    expect([...withBos.encode('a')]).toEqual([97])
    expect([...withBos.encode('a', { addSpecialTokens: true })]).toEqual([bos, 97])
    expect([...withBos.encode('<|begin_of_text|>a')]).toEqual([bos, 97])
    expect(withBos.bosId).toBe(bos)
  })

  it('has no bytes for ids without a token, and refuses what is no id', () => {
    expect(tokenizer.bytesOf(tokenizer.vocabularySize).length).toBe(0)
    for (const id of [-1, 0.5, Number.NaN]) {
      expect(() => tokenizer.bytesOf(id)).toThrow(expect.objectContaining({ code: 'ERR_TOKENIZER' }))
    }
  })
})

describe('sentencepiece tokens', () => {
  const tokenizer = new Tokenizer(sentencePieceFiles())

  it('turns ▁ into a space and <0xE4> into a byte', () => {
    const ids = tokenizer.encode('hello 北 world')
    expect(text(tokenizer, ids)).toBe(' hello 北 world')
    expect([...ids].flatMap((id) => [...tokenizer.bytesOf(id)])).toContain(0xe5)
  })

  it('decodes without the space it puts before every text', () => {
    expect(tokenizer.decode(tokenizer.encode('hello world'))).toBe('hello world')
    expect(tokenizer.textOf(tokenizer.encode('hello world'))).toBe(' hello world')
  })

  it('encodes a continuation as the whole text has it', () => {
    const end = tokenizer.idOf('<|end|>')!
    const whole = tokenizer.encode('hello<|end|>\nworld<|end|>')
    const place = whole.indexOf(end)
    expect([...tokenizer.encodeAfter(end, '\nworld<|end|>')]).toEqual([...whole.slice(place + 1)])
  })
})

describe('the tokenizer of Qwen3', () => {
  const tokenizer = qwen3Tokenizer()

  it('knows its sizes and ends of turn', () => {
    expect(tokenizer.vocabularySize).toBe(151669)
    expect(tokenizer.endOfTurnIds).toEqual([151645, 151643])
    expect(tokenizer.bosId).toBeUndefined()
  })

  it('encodes as the reference does', () => {
    expect([...tokenizer.encode('I will look first.\n\n<tool_call>\n')]).toEqual([
      40, 686, 1401, 1156, 382, 151657, 198,
    ])
    expect([...tokenizer.encode('先看看 🦊🦊 naïve…\n')]).toEqual([
      60726, 101997, 11162, 99, 232, 147440, 94880, 586, 89478,
    ])
  })

  it('has bytes for every id, and all of them together cover every byte', () => {
    const seen = new Set<number>()
    const empty: number[] = []
    for (let id = 0; id < tokenizer.vocabularySize; id++) {
      const bytes = tokenizer.bytesOf(id)
      if (bytes.length === 0) empty.push(id)
      for (const byte of bytes) seen.add(byte)
    }
    expect(empty).toEqual([])
    expect(seen.size).toBe(256)
  })
})

describe('loading', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'tokenizer-'))
  })
  afterEach(() => rm(dir, { recursive: true }))

  const write = (name: string, content: unknown) =>
    writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content))

  it('collects the ends of turn of all files', async () => {
    const { tokenizer, config } = byteLevelFiles()
    await write('tokenizer.json', tokenizer)
    await write('tokenizer_config.json', { ...config, eos_token: { content: '<|im_end|>', lstrip: false } })
    await write('generation_config.json', { eos_token_id: [271, 269] })
    await write('config.json', { eos_token_id: 269 })
    const loaded = await Tokenizer.load(dir)
    expect(loaded.eosId).toBe(271)
    expect(loaded.endOfTurnIds).toEqual([271, 269])
    expect(loaded.specialTokens).toEqual({ eos_token: '<|im_end|>' })
  })

  it('needs no file but tokenizer.json', async () => {
    await write('tokenizer.json', byteLevelFiles().tokenizer)
    expect((await Tokenizer.load(dir)).endOfTurnIds).toEqual([])
  })

  it('names the file and what is wrong with it', async () => {
    const refused = async (message: RegExp) =>
      expect(Tokenizer.load(dir)).rejects.toMatchObject({
        code: 'ERR_TOKENIZER',
        message: expect.stringMatching(message),
      })
    const { tokenizer } = byteLevelFiles()
    await refused(/tokenizer\.json: expected this file, found none/)
    await write('tokenizer.json', '{"model": ')
    await refused(/tokenizer\.json: expected JSON/)
    await write('tokenizer.json', [])
    await refused(/tokenizer\.json: expected a JSON object, got a list/)
    await write('tokenizer.json', {})
    await refused(/tokenizer\.json: unsupported tokenizer: expected a decoder, got none/)
    await write('tokenizer.json', { ...tokenizer, decoder: { type: 'WordPiece', prefix: '##' } })
    await refused(/unsupported tokenizer: expected a decoder of ByteLevel.*got "WordPiece"/)
    await write('tokenizer.json', { ...tokenizer, model: { type: 'Imaginary' } })
    await refused(/unsupported tokenizer: .*Imaginary/)
    await write('tokenizer.json', { ...tokenizer, model: { type: 'BPE', vocab: null, merges: 7 } })
    await refused(/unsupported tokenizer/)
    await write('tokenizer.json', { ...tokenizer, added_tokens: [{ id: -1, content: 'x' }] })
    await refused(/expected each of added_tokens to have an id and a content/)
    await write('tokenizer.json', { ...tokenizer, added_tokens: 'no' })
    await refused(/expected added_tokens to be a list/)
    await write('tokenizer.json', tokenizer)
    await write('tokenizer_config.json', '')
    await refused(/tokenizer_config\.json: expected JSON/)
    await rm(join(dir, 'tokenizer_config.json'))
    await mkdir(join(dir, 'config.json'))
    await refused(/config\.json: .*EISDIR/)
  })

  it('names what it got for any part replaced by anything', async () => {
    const { tokenizer } = byteLevelFiles()
    const part = fc.constantFrom(...(Object.keys(tokenizer) as (keyof typeof tokenizer)[]))
    fc.assert(
      fc.property(part, fc.jsonValue(), (name, value) => {
        try {
          new Tokenizer({ tokenizer: { ...tokenizer, [name]: value } }).encode('hello')
        } catch (error) {
          expect(error).toMatchObject({ name: 'SkillgateError', code: 'ERR_TOKENIZER' })
        }
      }),
      { numRuns: 60 },
    )
  })
})
