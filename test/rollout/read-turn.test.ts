import { expect, test } from 'vitest'
import { callText } from '../../lib/environments/skill-lab/call-text.js'
import { labTools } from '../../lib/environments/skill-lab/workbench.js'
import { readTurnText } from '../../lib/rollout/read-turn.js'

const names = { readTools: ['read'], execTools: ['exec', 'bash'] }
const tool = (name: string, properties: Record<string, unknown>) => ({
  ...{ name, description: 'd' },
  parameters: { type: 'object', properties },
})
const text = { type: 'string' }

test('is what the built-in environment teaches', () => {
  const location = '/skills/pdf-merge/SKILL.md'
  expect(readTurnText(location, labTools, names)).toBe(callText('read', { path: location }))
})

test.each([
  [
    'a namespace',
    [tool('fs.Read', { path: text })],
    '{"name": "fs.Read", "arguments": {"path": "/s/a/SKILL.md"}}',
  ],
  [
    'another parameter',
    [tool('read', { lines: { type: 'integer' }, file: text, mode: text })],
    '{"name": "read", "arguments": {"file": "/s/a/SKILL.md"}}',
  ],
  [
    'no parameters',
    [{ name: 'read', description: '', parameters: {} }],
    '{"name": "read", "arguments": {"path": "/s/a/SKILL.md"}}',
  ],
  [
    'a shell only',
    [tool('bash', { timeout: { type: 'number' }, command: text })],
    '{"name": "bash", "arguments": {"command": "cat /s/a/SKILL.md"}}',
  ],
])('fits tools with %s', (_, tools, call) => {
  expect(readTurnText('/s/a/SKILL.md', tools, names)).toBe(`<tool_call>\n${call}\n</tool_call>`)
})

test('quotes for a shell what needs it', () => {
  expect(readTurnText("/my skills/it's/SKILL.md", [tool('exec', { command: text })], names)).toContain(
    JSON.stringify("cat '/my skills/it'\\''s/SKILL.md'"),
  )
})

test('may be given, and then no tool is needed', () => {
  const readTurn = '<function=read><path>{location}</path></function>'
  expect(readTurnText('/s/$&/SKILL.md', [], { ...names, readTurn })).toBe(
    '<function=read><path>/s/$&/SKILL.md</path></function>',
  )
})

test('without a tool that reads names those there are', () => {
  expect(() => readTurnText('/s/a/SKILL.md', [tool('calculator', {})], names)).toThrow(
    /a tool that reads \(read, exec, bash\) in its first turn, got calculator/,
  )
})
