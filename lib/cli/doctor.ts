import { diagnose } from '../addon/doctor.js'
import { configError } from '../config/check.js'
import { table } from '../report/table.js'
import { type Command, exitCodes } from './command.js'
import { readGivenOptions } from './command-options.js'

const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'say what skillgate runs on here, and what stands in its way',
  usage: 'skillgate doctor',
  about:
    'Prints versions, the native binary and how it was built, the instruction sets of this processor, and what does not work.',
  extra: [],
  async run(argv, { progress, style }) {
    const { problems: wrong } = readGivenOptions({}, argv)
    if (wrong.length > 0) throw configError('doctor', wrong)
    const found = diagnose()
    const rows: [string, string][] = [
      ['skillgate', `${found.skillgate}, in ${found.root}`],
      ...Object.entries(found.system).map(([name, value]): [string, string] => [name, String(value)]),
      [
        'processor',
        `${found.cpu.model}, ${found.cpu.cores} cores, ${gigabytes(found.cpu.memoryBytes)} of memory`,
      ],
    ]
    if ('file' in found.addon) {
      const { version, compiler, architecture, optimized, cuda, sanitizer } = found.addon.build
      const how = [optimized ? 'optimised' : 'not optimised', cuda ? 'with CUDA' : 'without CUDA']
      if (sanitizer !== 'none') how.push(`${sanitizer} sanitizer`)
      rows.push(
        ['native binary', found.addon.file],
        ['built as', `${version}, ${compiler}, ${architecture}, ${how.join(', ')}`],
      )
    } else rows.push(['native binary', 'none'])
    if (found.cpuBackend) rows.push(['CPU engine', found.cpuBackend.text])
    if (found.instructionSets.length > 0) {
      const sets = found.instructionSets.map(({ name, available }) => `${name} ${available ? 'yes' : 'no'}`)
      rows.push(['instruction sets', sets.join(', ')])
    }
    if (found.cudaBackend) rows.push(['CUDA engine', found.cudaBackend.text])
    rows.push(['NVIDIA driver', found.nvidiaDriver ?? 'none'])
    progress.line(table([{ title: 'what' }, { title: 'found', align: 'left' }], rows))
    if (found.problems.length === 0) {
      progress.line(style.green('\nall is well'))
      return exitCodes.fine
    }
    for (const problem of found.problems) progress.line(style.red(`\n${problem}`))
    return exitCodes.failed
  },
}
