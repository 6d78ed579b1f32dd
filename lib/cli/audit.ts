import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../audit/audit.js'
import { renderAuditHtml } from '../audit/audit-html.js'
import { formatAudit } from '../audit/format-audit.js'
import { configError } from '../config/check.js'
import type { OptionSet } from '../config/option.js'
import { SkillgateError } from '../errors.js'
import { Tokenizer } from '../policy/tokenizer.js'
import { auditCommandOptions } from './audit-options.js'
import { type Command, exitCodes } from './command.js'
import { checkGivenOptions, readGivenOptions } from './command-options.js'

export const auditCommand: Command = {
  name: 'audit',
  summary: 'say how much credit the choice of a skill gets, and with which sign',
  usage:
    'skillgate audit <run folder or trajectories.jsonl> [--html page.html] [--json figures.json] [options]',
  about:
    'Measures on stored trajectories what share of the loss the tokens have that name a skill, how often a right choice is blamed, and what reading the right skill is worth.',
  extra: [],
  options: auditCommandOptions as unknown as OptionSet,
  async run(argv, { progress }) {
    const given = readGivenOptions(auditCommandOptions.shape, argv, true)
    const { model, html, json, ...options } = checkGivenOptions(auditCommandOptions, given)
    const [source, ...more] = given.positionals
    if (source === undefined || more.length > 0) {
      const text = `expected one run folder or JSONL file, got ${given.positionals.length || 'none'}`
      throw configError('audit', [{ option: 'source', text }])
    }
    const tokenizerFolder = model ?? modelOfRun(source)
    const tokenizer = tokenizerFolder === undefined ? undefined : await Tokenizer.load(tokenizerFolder)
    const found = await audit(source, { ...options, tokenizer })
    progress.line(formatAudit(found))
    for (const [path, text] of [
      [html, () => renderAuditHtml(found)],
      [json, () => `${JSON.stringify(found, null, 2)}\n`],
    ] as const) {
      if (path === undefined) continue
      write(path, text())
      progress.line(`written: ${path}`)
    }
    return exitCodes.fine
  },
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    throw new SkillgateError('ERR_FILE', `cannot write ${path}: ${(cause as Error).message}`, { cause })
  }
}

/** The model whose tokenizer made the ids of a run, where the run's config names one that is there. */
function modelOfRun(source: string): string | undefined {
  if (!existsSync(source) || !statSync(source).isDirectory()) return undefined
  const file = join(source, 'config.json')
  if (!existsSync(file)) return undefined
  const { model } = JSON.parse(readFileSync(file, 'utf8'))
  return typeof model === 'string' && existsSync(join(model, 'tokenizer.json')) ? model : undefined
}
