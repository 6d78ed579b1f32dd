import { type RunProgress, schedule } from '../compare/schedule.js'
import { duration } from '../report/format.js'
import type { Surroundings } from './command.js'

export interface PlayShownOptions<R> {
  /** Pieces of work at the same time. */
  jobs: number
  name(piece: R): string
  stepsOf(piece: R): number
  /** Does one piece; false: it was stopped. */
  play(piece: R, onProgress: (progress: RunProgress) => void): Promise<boolean>
  /** Pieces that were done before, and count as such. */
  found?: number
}

/**
 * Does pieces of work, `jobs` at a time, and shows how far they are: a line for each that is done, and a live one for what goes on.
 * @returns whether all of them came to their end
 */
export function playShown<R>(
  pieces: readonly R[],
  { jobs, name, stepsOf, play, found = 0 }: PlayShownOptions<R>,
  { progress, style, signal }: Pick<Surroundings, 'progress' | 'style' | 'signal'>,
): Promise<boolean> {
  const playing = new Map<R, string>()
  const total = found + pieces.length
  let ended = found
  return schedule(pieces, {
    jobs,
    signal,
    stepsOf,
    play: async (piece, onProgress) => {
      const begun = Date.now()
      try {
        const whole = await play(piece, onProgress)
        if (whole) {
          ended += 1
          const seconds = (Date.now() - begun) / 1000
          progress.line(`${style.green('done')} ${ended}/${total}  ${name(piece)}  in ${duration(seconds)}`)
        }
        return whole
      } finally {
        playing.delete(piece)
      }
    },
    onProgress: (piece, { text }, secondsLeft) => {
      playing.set(piece, text)
      const each = Array.from(playing, ([one, doing]) => `${name(one)}: ${doing}`)
      const time = secondsLeft === undefined ? '' : `  left ${duration(secondsLeft)}`
      progress.live(style.dim(`  ${ended}/${total} done${time}  ${each.join(';  ')}`))
    },
  })
}
