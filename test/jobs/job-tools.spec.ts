import { Kernel } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolJobs from '@tenon/plugin-tool-jobs'
import toolsPlugin from '@tenon/plugin-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, type Opened, openJobs, textOf } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs({ jobs: { stopBudgetMs: 8_000 } })
})
afterEach(async () => {
  for (const { id } of app.jobs.list('host')) live.get(id)?.()
  await app[Symbol.asyncDispose]()
})
/** How to end what a test has left running. */
const live = new Map<string, () => void>()
const start = (change: Parameters<typeof app.start>[0] = {}) => {
  const producer = app.start(change)
  live.set(producer.id, () => void producer.end())
  return producer
}

const names = () => app.tools.view().tools.map(({ name }) => name)

describe('the row', () => {
  it('JB-59 brings three tools, a section and a controller, and takes them away together', async () => {
    expect(names()).toEqual(['job_kill', 'job_list', 'job_output'])
    expect((await app.prompt.assemble(app.session)).text).toMatch(/^Keep the id of a background job; .* with job_kill\.$/)
    start()
    await app.kernel.row('tool-jobs')?.unload()
    expect(names()).toEqual([])
    expect((await app.prompt.assemble(app.session)).text).toBe('')
    expect(() => app.start()).toThrow(expect.objectContaining({ code: 'JOB_NO_CONTROLLER' }))
  })

  it('JB-59 a bare config uses the built-in bounds', () => {
    const { inputSchema } = app.tools.get('job_output') ?? {}
    expect(inputSchema).toMatchObject({
      required: ['job_id'],
      additionalProperties: false,
      properties: {
        job_id: { description: 'Id of the job, as given when it was started.' },
        timeout_ms: { type: 'integer', minimum: 1, description: 'Longest wait in milliseconds. Default 30000, at most 600000.' },
        tail: { type: 'integer', minimum: 1, maximum: 10_000 },
      },
    })
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual(['job_id', 'wait', 'timeout_ms', 'until', 'tail'])
    expect(app.tools.get('job_kill')?.inputSchema).toMatchObject({
      properties: { reason: { description: 'Why; shown to whoever waits for the job.' } },
    })
  })

  it.each([
    [{ defaultWaitMs: 600_001 }, 'defaultWaitMs must not be above maxWaitMs'],
    [{ maxWaitMs: 1_000 }, 'defaultWaitMs must not be above maxWaitMs'],
    [{ defaultWaitMs: 0 }, 'defaultWaitMs'],
    [{ maxWaitMs: 2_147_483_648 }, 'maxWaitMs'],
    [{ defaultWait: 5 }, 'did you mean "defaultWaitMs"'],
  ])('JB-59 the config %j refuses to load', async (config, message) => {
    await using kernel = new Kernel()
    kernel.load(toolsPlugin)
    kernel.load(systemPrompt)
    kernel.load(jobsPlugin)
    await expect(async () => kernel.load(toolJobs, config as never).ready()).rejects.toThrow(message)
  })

  it('JB-53 a waiting call goes on over a reload of the registry, and of this row, and answers with what is new', async () => {
    const producer = start()
    producer.stdout.write('early\n')
    await app.shown('job_output', { job_id: producer.id })
    const calls = [{ wait: true }, { until: 'ready' }].map((args) => app.shown('job_output', { job_id: producer.id, ...args }))
    await drained()
    await app.kernel.row('jobs')?.replace(jobsPlugin)
    await app.kernel.row('tool-jobs')?.replace(toolJobs)
    await app.kernel.settled()
    producer.stdout.write('ready\n')
    const second = await calls[1]
    expect(second).toBe('ready\n[matched: ready]\n[status: running]')
    await producer.end()
    expect(await calls[0]).toBe('(no new output)\n[status: completed, exit code: 0]')
    expect(names()).toEqual(['job_kill', 'job_list', 'job_output'])
    await drained()
    expect(app.messages).toEqual([])
  })

  it.each([
    [{ wait: true }, ''],
    [{ until: 'never' }, '[no match before the job ended]\n'],
  ])('JB-55 leaves with the registry under a call with %j, and comes back with it, once', async (args, note) => {
    const producer = start()
    const waiting = app.call('job_output', { job_id: producer.id, ...args })
    await drained()
    const unloading = app.kernel.row('jobs')?.unload()
    await drained()
    await producer.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    expect(textOf(await waiting)).toBe(`(no new output)\n${note}[status: killed, signal: SIGTERM; job registry closed]`)
    await unloading
    expect(names()).toEqual([])
    await app.kernel.load(jobsPlugin).ready()
    await app.kernel.settled()
    expect(names()).toEqual(['job_kill', 'job_list', 'job_output'])
    expect(start().id).toBe('bash-1')
  })
})

describe('job_list', () => {
  it('JB-68 lists own jobs: live ones, oldest first, held ones included, then settled ones, newest first', async () => {
    expect(await app.shown('job_list')).toBe('(no background jobs)')
    const [first, second, held] = [start({ label: 'first' }), start({ label: 'second' }), start({ label: 'held', attachment: 'foreground' })]
    const last = start({ label: 'last', kind: 'pwsh' })
    start({ owner: app.open('two'), label: 'of another' })
    await second.end()
    await new Promise((resolve) => setTimeout(resolve, 3))
    await first.end({ status: 'failed' })
    app.jobs.kill(last.id, 'host', { by: 'human', text: 'x' })
    expect(await app.shown('job_list')).toBe(
      [
        `${held.id} [bash] running (0s) — held`,
        `${last.id} [pwsh] stopping (0s) — last`,
        `${first.id} [bash] failed (0s) — first`,
        `${second.id} [bash] completed (0s) — second`,
      ].join('\n'),
    )
    const result = await app.call('job_list')
    expect(result).toMatchObject({
      value: { jobs: [{ id: held.id, attachment: 'foreground' }, {}, {}, { status: 'completed', outcome: 'exit code: 0' }], notShown: 0 },
    })
    expect(result).not.toHaveProperty('value.jobs.0.owner')
    expect(result).not.toHaveProperty('value.jobs.0.detail')
  })

  it('JB-68 how a program ended is a fact of the value, in each of the three tools', async () => {
    const [exited, died] = [start(), start()]
    await exited.end({ status: 'completed', outcome: 'exit code: 3', exitCode: 3 })
    await died.end({ status: 'killed', outcome: 'signal: SIGKILL', signal: 'SIGKILL' })
    expect(await app.call('job_list')).toMatchObject({ value: { jobs: [{ signal: 'SIGKILL' }, { exitCode: 3 }] } })
    expect(await app.call('job_output', { job_id: exited.id })).toMatchObject({ value: { job: { detail: { exitCode: 3 } } } })
    expect(await app.call('job_kill', { job_id: died.id })).toMatchObject({ value: { job: { detail: { signal: 'SIGKILL' } } } })
  })

  it('JB-68 of two that ended in the same millisecond the one that was started last comes first', async () => {
    const started = Array.from({ length: 10 }, () => start())
    await Promise.all(started.map((producer) => producer.end()))
    const settled = (await app.shown('job_list')).split('\n').map((line) => line.split(' ')[0])
    expect(settled).toEqual(started.map(({ id }) => id).reverse())
  })

  it('JB-68 shows fifty, and counts the rest', async () => {
    for (let n = 0; n < 60; n++) await start().end()
    const [a, b] = [start(), start()]
    const lines = (await app.shown('job_list')).split('\n')
    expect(lines).toHaveLength(51)
    expect([lines[0], lines[1]]).toEqual([`${a.id} [bash] running (0s) — make`, `${b.id} [bash] running (0s) — make`])
    expect(lines.at(-1)).toBe('[12 more finished jobs not shown]')
    const many = Array.from({ length: 55 }, () => start({ attachment: 'foreground' }))
    const all = (await app.shown('job_list')).split('\n')
    expect(all).toHaveLength(58)
    expect(all.at(-1)).toBe('[60 more finished jobs not shown]')
    expect(all[56]).toContain(many.at(-1)?.id)
  })
})

describe('job_kill', () => {
  it('JB-69 asks for the stop in the model’s name, with its reason or the default one', async () => {
    const [given, plain, blank] = [start(), start(), start()]
    expect(await app.shown('job_kill', { job_id: given.id, reason: 'not needed\nany more' })).toBe(`requested cancellation of job ${given.id}`)
    await app.shown('job_kill', { job_id: plain.id })
    await app.shown('job_kill', { job_id: blank.id, reason: '  ' })
    expect([given, plain, blank].map(({ cancels }) => cancels)).toEqual([
      [{ by: 'model', text: 'not needed' }],
      [{ by: 'model', text: 'stopped with job_kill' }],
      [{ by: 'model', text: 'stopped with job_kill' }],
    ])
    expect(await app.shown('job_kill', { job_id: given.id })).toBe(`requested cancellation of job ${given.id}`)
    expect(given.cancels).toHaveLength(1)
  })

  it('JB-69 the reason reaches a waiting call', async () => {
    const producer = start({ attachment: 'foreground' })
    const waiting = app.jobs.wait(producer.id, 60_000, app.session)
    await app.shown('job_kill', { job_id: producer.id, reason: 'wrong branch' })
    await producer.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    expect(await waiting).toMatchObject({
      job: { stop: { by: 'model', text: 'wrong branch' }, detail: { outcome: 'signal: SIGTERM; wrong branch' } },
    })
  })

  it('JB-69 one that had finished is told so, and its unread output stays unread', async () => {
    const producer = start()
    producer.stdout.write('unread\n')
    await producer.end()
    const result = await app.call('job_kill', { job_id: producer.id })
    expect(textOf(result)).toBe(`job ${producer.id} had already finished [status: completed, exit code: 0]`)
    expect(result).toMatchObject({ value: { outcome: 'already-finished', job: { id: producer.id } } })
    expect(await app.shown('job_output', { job_id: producer.id })).toBe('unread\n[status: completed, exit code: 0]')
  })

  it('JB-67 its answers fit the limit of their job and keep the id', async () => {
    const done = start({ replyLimitBytes: 256 })
    await done.end({ status: 'failed', outcome: 'ä'.repeat(400) })
    const answer = await app.shown('job_kill', { job_id: done.id })
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(256)
    expect(answer).toMatch(new RegExp(`^job ${done.id} had already finished \\[status: failed, ä+…\\]$`))
    const stubborn = start({ replyLimitBytes: 256 })
    stubborn.refusal = new Error('ä'.repeat(400))
    const refused = await app.call('job_kill', { job_id: stubborn.id })
    expect(refused).toMatchObject({ isError: true, code: 'JOB_CANCEL_FAILED' })
    expect(Buffer.byteLength(textOf(refused))).toBeLessThanOrEqual(256)
    expect(textOf(refused)).toMatch(new RegExp(`^Error: job ${stubborn.id} could not be stopped: ä+\\n\\[result truncated\\]$`))
    stubborn.refusal = undefined
  })
})
