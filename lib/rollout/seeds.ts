import { hashIntegers } from '../tasks/hash.js'

// The first part keeps the uses apart: no group, rollout or turn ever shares a seed by accident of its numbers.
const GROUP = 1
const ROLLOUT = 2
const TURN = 3

/** Seed of what a group's rollouts share: its slate. */
export function groupSeed(runSeed: number, step: number, draw: number): number {
  return hashIntegers(GROUP, runSeed, step, draw)
}

/** Seed of one rollout: place `index` in draw `draw` of step `step`. */
export function rolloutSeed(runSeed: number, step: number, draw: number, index: number): number {
  return hashIntegers(ROLLOUT, runSeed, step, draw, index)
}

/** Seed of the sampling of one assistant turn. */
export function turnSeed(seed: number, turn: number): number {
  return hashIntegers(TURN, seed, turn)
}
