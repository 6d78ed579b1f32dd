/** Signals that ask a run to save and stop. */
const stopSignals = ['SIGINT', 'SIGTERM'] as const

/**
 * A signal that the first Ctrl-C (or SIGTERM) aborts, so that a run can save and stop; the second ends the process at once.
 * @param onFirst called at the first
 */
export function stopOnInterrupt(onFirst: () => void): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    controller.abort(new Error(name))
    onFirst()
  }
  for (const name of stopSignals) process.on(name, stop)
  return {
    signal: controller.signal,
    release() {
      for (const name of stopSignals) process.off(name, stop)
    },
  }
}

/** A shell word, quoted where it needs to be. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The command line that goes on where this one stopped. */
export function resumeCommand(argv: readonly string[]): string {
  const words = argv.filter((word) => word !== '--no-resume' && !word.startsWith('--resume'))
  return ['npx', 'skillgate', ...words.map(quoted), '--resume'].join(' ')
}
