import type { OptionSet } from '../config/option.js'
import { sftOptions } from '../config/sft-options.js'
import { printEvents } from '../recipes/console.js'
import { type SftConfig, sft } from '../recipes/sft.js'
import type { Command } from './command.js'
import { checkGivenOptions, configFlag, readGivenOptions } from './command-options.js'
import { reportResult } from './finish.js'

export const sftCommand: Command = {
  name: 'sft',
  summary: 'train a model on demonstrations',
  usage: 'skillgate sft --model <path> --demonstrations <path> --output <path> [options]',
  about:
    'Trains a model to say what the assistant says in demonstrations: conversations in a JSONL file, one object a line, with ' +
    'messages [{role, content}]. Ctrl-C saves and says how to go on.',
  extra: [configFlag],
  options: sftOptions as unknown as OptionSet,
  async run(argv, surroundings) {
    const options = checkGivenOptions(sftOptions, readGivenOptions(sftOptions.shape, argv))
    const { signal, progress, style } = surroundings
    const result = await sft({ ...(options as SftConfig), signal, onEvent: printEvents(progress, style) })
    return reportResult(result, surroundings)
  },
}
