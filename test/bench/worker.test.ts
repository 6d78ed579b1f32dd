import { describe, expect, it } from 'vitest'
import { Worker } from '../../bench/worker.js'

const script = (text: string) => new Worker('echo', process.execPath, ['-e', text])

const echo = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const request = JSON.parse(line)
    if (request.do === 'die') process.exit(3)
    const answer = request.do === 'fail' ? { error: 'cannot' } : { ns: 10, cpu_ns: 20, ...request }
    console.log(JSON.stringify(answer))
  })
`

describe('Worker', () => {
  it('answers requests in order and ends when it is closed', async () => {
    const worker = script(echo)
    const answers = await Promise.all([1, 2, 3].map((n) => worker.ask({ n })))
    expect(answers.map(({ n }) => n)).toEqual([1, 2, 3])
    expect(await worker.run('a')).toEqual({ ns: 10, cpuNs: 20 })
    await worker.close()
    await expect(worker.ask({})).rejects.toThrow('it ended with status 0')
  })

  it('throws what the process says it cannot do, and goes on', async () => {
    const worker = script(echo)
    await expect(worker.ask({ do: 'fail' })).rejects.toMatchObject({
      code: 'ERR_BENCH',
      message: 'echo: cannot',
    })
    expect(await worker.ask({ n: 1 })).toMatchObject({ n: 1 })
    await worker.close()
  })

  it('fails what is in flight when the process ends, with the last of its errors', async () => {
    const worker = script(`console.error('out of luck'); ${echo}`)
    await expect(worker.ask({ do: 'die' })).rejects.toThrow(/it ended with status 3: out of luck/)
  })

  it('fails where there is no such program', async () => {
    const worker = new Worker('nothing', '/no/such/program', [])
    await expect(worker.ask({})).rejects.toThrow(/nothing: .*ENOENT/)
  })
})
