import { setMaxListeners } from 'node:events'
import { SkillgateError } from '../errors.js'

/** A controller that is aborted with its parent; `unlink` lets the parent forget it. */
export interface LinkedController {
  controller: AbortController
  unlink(): void
}

/** As AbortSignal.any does, but a parent that lives as long as the run keeps nothing of the children that ended. */
export function linkedController(parent: AbortSignal | undefined): LinkedController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  if (!parent) return { controller, unlink: () => {} }
  const abort = () => controller.abort(parent.reason)
  parent.addEventListener('abort', abort, { once: true })
  if (parent.aborted) abort()
  return { controller, unlink: () => parent.removeEventListener('abort', abort) }
}

/** Settles as the promise does, or rejects with the signal's reason, whichever comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

export function throwIfAborted(run: AbortSignal): void {
  if (run.aborted) throw new SkillgateError('ERR_ABORTED', 'the rollouts were aborted', { cause: run.reason })
}
