import { describe, expect, it } from 'vitest'
import { turnCalls } from '../../lib/audit/turn-calls.js'
import { responseTurns } from '../../lib/audit/turn-reads.js'

const call = (body: string) => `<tool_call>\n${body}\n</tool_call>`
const found = (text: string) => {
  const bytes = Buffer.from(text)
  return turnCalls(bytes).map((one) => [one.tool, bytes.subarray(one.bytes.start, one.bytes.end).toString()])
}

describe('turnCalls', () => {
  it('finds JSON and XML calls in order of appearance, with their bytes', () => {
    const json = call('{"name": "read", "arguments": {"path": "a 🦊"}}')
    const xml = call('<function=exec>\n<parameter=command>\ncat b\n</parameter>\n</function>')
    expect(found(`读取 ${xml} then ${json}!`)).toEqual([
      ['exec', xml],
      ['read', json],
    ])
  })

  it('takes no call that is cut off or malformed', () => {
    const texts = ['{"name": "read"', '{"name": 3}', '[]', 'null', '<function=read>', 'plain']
    expect(texts.map((text) => found(call(text)))).toEqual(texts.map(() => []))
    expect(found('<tool_call>\n{"name": "read"}')).toEqual([])
  })

  it('takes no call inside thoughts, and keeps one whose argument holds the tag', () => {
    const plain = call('{"name": "read"}')
    const tagged = call('{"name": "write", "arguments": {"text": "</think>"}}')
    expect(found(`${plain}</think>${tagged}${plain}`).map(([tool]) => tool)).toEqual(['write', 'read'])
    expect(found(`<think>${plain}</think>`)).toEqual([])
  })
})

describe('responseTurns', () => {
  const markers = { turnStart: '<|im_start|>assistant\n', turnEnd: '<|im_end|>' }
  const turns = (text: string) => responseTurns(text, markers)

  it('begins with the text, and again after each marker', () => {
    const tool = '<|im_end|>\n<|im_start|>user\nresult<|im_end|>\n<|im_start|>assistant\n'
    expect(turns(`one${tool}two${tool}three<|im_end|>\n`)).toEqual(['one', 'two', 'three'])
    expect(turns(`one${tool}cut off`)).toEqual(['one', 'cut off'])
    expect(turns(`one${tool}`)).toEqual(['one'])
  })

  it('takes a text that begins with a marker, and one without any', () => {
    expect(turns('<|im_start|>assistant\none<|im_end|>')).toEqual(['one'])
    expect(turns('one')).toEqual(['one'])
    expect(turns('')).toEqual([])
  })

  it('takes a marker whose line break is missing', () => {
    expect(turns('one<|im_end|><|im_start|>assistanttwo')).toEqual(['one', 'two'])
  })
})
