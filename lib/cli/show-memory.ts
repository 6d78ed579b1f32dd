import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CreditMemory, CreditMethod } from '../credit/method.js'
import { readTrajectories, type StoredGroup } from '../rollout/trajectory-file.js'

/**
 * What a method had gathered before a step, from the trajectories of the steps before it: those in the same file, and those in the
 * files `step-*.jsonl` beside it. Absent where the method gathers nothing.
 */
export async function memoryBefore(
  method: CreditMethod,
  file: string,
  step: number,
): Promise<CreditMemory | undefined> {
  if (!method.learn) return undefined
  const folder = dirname(file)
  const numbers = readdirSync(folder).flatMap((name) => /^step-(\d+)\.jsonl$/.exec(name)?.[1] ?? [])
  const beside = numbers.filter((number) => Number(number) < step).sort((a, b) => Number(a) - Number(b))
  const files = [...beside.map((number) => join(folder, `step-${number}.jsonl`)), file]
  let memory: CreditMemory | undefined
  for (const path of new Set(files)) {
    const trained = (await readTrajectories(path)).filter((group) => !group.dropped && group.step < step)
    for (const groups of byStep(trained)) memory = method.learn(memory, groups)
  }
  return memory
}

function byStep(groups: readonly StoredGroup[]): StoredGroup[][] {
  const steps = new Map<number, StoredGroup[]>()
  for (const group of groups) steps.set(group.step, [...(steps.get(group.step) ?? []), group])
  return [...steps].sort(([a], [b]) => a - b).map(([, of]) => of)
}
