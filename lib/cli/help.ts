import { describeOptions, type OptionDescription } from '../config/describe.js'
import type { Section, Shape } from '../config/option.js'
import type { Command } from './command.js'

const width = 100

function wrap(text: string, indent: number): string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + 1 + word.length > width - indent) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `${' '.repeat(indent)}${line}`)
}

function valueName(option: OptionDescription): string {
  if (option.type === 'boolean') return ''
  if (option.type === 'list') return ' <a,b>'
  return option.path ? ' <path>' : option.type === 'text' ? ' <word>' : ' <number>'
}

function defaultText(option: OptionDescription): string {
  if (option.required) return 'required'
  if (option.default === undefined) return 'default: none'
  return `default: ${Array.isArray(option.default) ? option.default.join(',') : String(option.default)}`
}

function optionLines(option: OptionDescription): string[] {
  const unit = option.unit ? ` (${option.unit})` : ''
  const head = `  ${option.flag}${valueName(option)}${unit}  [${defaultText(option)}]`
  const range = option.type === 'boolean' || option.path ? '' : `: ${option.expected}`
  return [head, ...wrap(`${option.about}${range}`, 6)]
}

/** Every option of a shape that a command line can give, by section. */
export function optionHelp(shape: Shape): string {
  const options = describeOptions(shape).filter((option) => !option.programOnly)
  const sections = [...new Set<Section>(options.map(({ section }) => section))]
  const blocks = sections.map((section) =>
    [`${section}:`, ...options.filter((option) => option.section === section).flatMap(optionLines)].join(
      '\n',
    ),
  )
  return blocks.join('\n\n')
}

export function commandHelp(command: Command): string {
  const parts = [`${command.usage}\n`, ...wrap(command.about, 0)]
  if (command.extra.length > 0) {
    parts.push(
      '',
      'Files and help:',
      ...command.extra.flatMap(({ flag, about }) => [`  ${flag}`, ...wrap(about, 6)]),
    )
  }
  if (command.options) parts.push('', optionHelp(command.options.shape))
  return parts.join('\n')
}

export function topHelp(commands: readonly Command[]): string {
  const longest = Math.max(...commands.map(({ name }) => name.length))
  return [
    'skillgate <command> [options]\n',
    'Trains the language-model agent you run, with separate credit for choosing a skill and for executing the task.\n',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(longest)}  ${summary}`),
    '',
    'skillgate <command> --help lists every option of a command with its default.',
    'skillgate train, without a model and an agent of your own, runs the built-in example from beginning to end.',
  ].join('\n')
}
