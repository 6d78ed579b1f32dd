import type { RunSpec } from '../compare/run-spec.js'
import { playRun } from './compare-play.js'
import { errorText } from './main.js'

/** What a run's process tells the one that began it. */
export type ChildMessage =
  | { type: 'progress'; done: number; total: number; text: string }
  | { type: 'end'; whole: boolean }
  | { type: 'error'; text: string }

/** What it is told. */
export type ParentMessage = { type: 'play'; spec: RunSpec } | { type: 'stop' }

// It saves its last completed step and ends where it is told to, and where the process that began it is gone.
const controller = new AbortController()
const stop = () => controller.abort()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
process.on('disconnect', stop)

const send = (message: ChildMessage) =>
  new Promise<void>((resolve) => {
    if (process.connected) process.send!(message, () => resolve())
    else resolve()
  })

process.on('message', async (message: ParentMessage) => {
  if (message.type === 'stop') return stop()
  try {
    const { signal } = controller
    const onProgress = (progress: Omit<ChildMessage & { type: 'progress' }, 'type'>) =>
      void send({ type: 'progress', ...progress })
    const whole = await playRun(message.spec, { signal, onProgress })
    await send({ type: 'end', whole })
  } catch (error) {
    await send({ type: 'error', text: errorText(error) })
  }
  process.exit(0)
})
