import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { RunSpec } from '../compare/run-spec.js'
import { SkillgateError } from '../errors.js'
import type { ChildMessage, ParentMessage } from './compare-child.js'
import type { PlayOptions } from './compare-play.js'

const childFile = fileURLToPath(new URL('./compare-child.js', import.meta.url))

/**
 * Plays one run in a process of its own, which is no part of the terminal's: Ctrl-C reaches this one, and this one tells it. Its end is waited for, so that what it saves when it is stopped is whole.
 * @throws ERR_RUN with what the process said, or how it ended
 */
export function playInProcess(spec: RunSpec, { signal, onProgress }: PlayOptions): Promise<boolean> {
  const child = fork(childFile, [], { detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const tell = (message: ParentMessage) => {
    if (child.connected) child.send(message)
  }
  const stop = () => tell({ type: 'stop' })
  signal?.addEventListener('abort', stop, { once: true })
  let said = ''
  child.stderr!.on('data', (text: Buffer) => {
    said = `${said}${text}`.slice(-4000)
  })
  return new Promise<boolean>((resolve, reject) => {
    let ended: ChildMessage | undefined
    child.on('message', (message: ChildMessage) => {
      if (message.type === 'progress') onProgress?.(message)
      else ended = message
    })
    child.on('error', reject)
    child.on('close', (code, name) => {
      signal?.removeEventListener('abort', stop)
      if (ended?.type === 'end') return resolve(ended.whole)
      if (signal?.aborted) return resolve(false)
      const how = name === null ? `ended with code ${code}` : `was ended by ${name}`
      const text =
        ended?.type === 'error' ? ended.text : `the process ${how}${said === '' ? '' : `: ${said.trim()}`}`
      reject(new SkillgateError('ERR_RUN', `the run in ${spec.output} failed: ${text}`))
    })
    tell({ type: 'play', spec })
    if (signal?.aborted) stop()
  })
}
