import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { modelFolder } from './assets.js'
import { initialWeights } from './initial-weights.js'
import { encodeSafetensors } from './safetensors.js'

const FILES = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'] as const

/** Writes the environment's model into a folder, with random weights. The same seed gives the same bytes. */
export async function createModel(dir: string, seed: number): Promise<void> {
  await mkdir(dir, { recursive: true })
  const config = JSON.parse(await readFile(join(modelFolder, 'config.json'), 'utf8'))
  for (const file of FILES) await copyFile(join(modelFolder, file), join(dir, file))
  const aside = join(dir, 'model.safetensors.tmp')
  await writeFile(aside, encodeSafetensors(initialWeights(config, seed)))
  await rename(aside, join(dir, 'model.safetensors'))
}
