import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// Compiled code lives in dist/, the Markdown and the model's files do not: both are found from the package's root.
const root = dirname(createRequire(import.meta.url).resolve('skillgate/package.json'))
const folder = join(root, 'lib', 'environments', 'skill-lab')

/** The library of SKILL.md files, in one folder a domain. */
export const skillsFolder = join(folder, 'skills')
/** config.json, generation_config.json, tokenizer.json and tokenizer_config.json of the environment's model. */
export const modelFolder = join(folder, 'model')
