/** How far a run is. */
export interface RunProgress {
  /** Steps done, of `total`. */
  done: number
  total: number
  /** What it does now. */
  text: string
}

export interface ScheduleOptions<R> {
  /** Runs at the same time. */
  jobs: number
  /** Plays one run; false: it was stopped. */
  play(run: R, onProgress: (progress: RunProgress) => void): Promise<boolean>
  /** Called with every progress of a run, and with the seconds that all runs left will take. */
  onProgress?(run: R, progress: RunProgress, secondsLeft: number | undefined): void
  /** Steps of a run, before it says so itself. */
  stepsOf(run: R): number
  signal?: AbortSignal
  now?: () => number
}

/**
 * Plays runs in their order, `jobs` at a time. The first error stops the beginning of new ones and is thrown when those that play have
 * ended.
 * @returns whether all of them came to their end
 */
export async function schedule<R>(runs: readonly R[], options: ScheduleOptions<R>): Promise<boolean> {
  const { play, onProgress, stepsOf, signal, now = Date.now } = options
  const totals = runs.map(stepsOf)
  const done = runs.map(() => 0)
  /** Steps that were done before this process saw the run: they say nothing of its pace. */
  const before = runs.map((): number | undefined => undefined)
  const begun = now()
  const sum = (values: readonly (number | undefined)[]) =>
    values.reduce<number>((all, one) => all + (one ?? 0), 0)
  const secondsLeft = () => {
    const played = sum(done) - sum(before)
    return played <= 0 ? undefined : ((sum(totals) - sum(done)) * (now() - begun)) / 1000 / played
  }
  let next = 0
  let whole = true
  let failure: { error: unknown } | undefined
  const work = async () => {
    while (next < runs.length && !failure && !signal?.aborted) {
      const place = next++
      const run = runs[place]!
      const report = (progress: RunProgress) => {
        totals[place] = progress.total
        done[place] = progress.done
        before[place] ??= progress.done
        onProgress?.(run, progress, secondsLeft())
      }
      try {
        const ended = await play(run, report)
        whole &&= ended
        if (ended) done[place] = totals[place]!
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, options.jobs) }, work))
  if (failure) throw failure.error
  return whole && next >= runs.length
}
