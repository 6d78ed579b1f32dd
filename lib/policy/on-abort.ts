/** What to call when a signal aborts; one listener a signal, for Node warns of more than ten. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `act` once when `signal` aborts, at once where it has; the function returned calls that off. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act()
    return () => {}
  }
  let acts = waiting.get(signal)
  if (!acts) {
    const added = new Set<() => void>()
    acts = added
    waiting.set(signal, added)
    const listener = () => {
      for (const one of added) one()
    }
    signal.addEventListener('abort', listener, { once: true })
  }
  const mine = () => act()
  acts.add(mine)
  return () => {
    acts.delete(mine)
  }
}
