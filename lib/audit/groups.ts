import { outcomeAdvantage } from '../credit/advantages.js'
import type { Observation, Scored } from './observation.js'

/**
 * The measurable members of each group: with a reward and at least one sampled token. Advantages are taken over all that have a
 * reward.
 */
export function scoreGroups(observations: readonly Observation[]): Scored[][] {
  const groups = new Map<string, (Observation & { reward: number })[]>()
  for (const observation of observations) {
    const { step, group, reward } = observation
    if (reward === null) continue
    const key = `${step} ${group}`
    if (!groups.has(key)) groups.set(key, [])
    groups.get(key)!.push({ ...observation, reward })
  }
  return Array.from(groups.values(), (members) => {
    const advantages = outcomeAdvantage(members.map((member) => member.reward))
    return members
      .map((member, i) => ({ ...member, advantage: advantages[i]! }))
      .filter((member) => member.generated > 0)
  })
}
