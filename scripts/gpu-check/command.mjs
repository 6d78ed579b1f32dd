import { spawn, spawnSync } from 'node:child_process'

/** Something that the check needs and this machine does not have. */
export class MissingError extends Error {}

export const say = (text) => console.log(`gpu-check: ${text}`)

export const hasCommand = (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined

/**
 * Returns `run(command, args, { seconds, env })`, which resolves to what the command printed, rejects where it fails or takes longer than its
 * seconds, and stops whatever runs when `limit` seconds have passed in all. `run.left()`: seconds that are left.
 */
export function deadline(limit) {
  const end = Date.now() + limit * 1000
  const left = () => (end - Date.now()) / 1000
  function run(command, args, { seconds = limit, env = process.env } = {}) {
    const most = Math.min(seconds, left())
    if (most <= 0) return Promise.reject(new Error(`no time left for ${command} ${args.join(' ')}`))
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let text = ''
      let errors = ''
      let late = false
      const timer = setTimeout(() => {
        late = true
        child.kill('SIGKILL')
      }, most * 1000)
      child.stdout.on('data', (data) => (text += data))
      child.stderr.on('data', (data) => (errors += data))
      child.on('error', reject)
      child.on('close', (code, signal) => {
        clearTimeout(timer)
        const what = `${command} ${args.join(' ')}`
        if (late) reject(new Error(`${what} took more than ${most.toFixed(0)} s`))
        else if (code !== 0)
          reject(
            new Error(`${what} ended with ${code ?? signal}\n${`${text}\n${errors}`.trim().slice(-4000)}`),
          )
        else resolve(text)
      })
    })
  }
  run.left = left
  return run
}
