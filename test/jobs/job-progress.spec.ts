import type { Producer } from '@tenon/jobs/conformance'
import type { ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, type Opened, openJobs, textOf } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

const WAITS = [{ wait: true }, { until: '^ready' }]

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** A call that waits for a job, and what it told meanwhile. */
function waitFor(producer: Producer, args: object) {
  const told: { readonly line: string; readonly at: number }[] = []
  let heard = (): void => undefined
  const onProgress = (line: string): void => {
    told.push({ line, at: performance.now() })
    heard()
  }
  const controller = new AbortController()
  const { signal } = controller
  const request = { name: 'job_output', arguments: { job_id: producer.id, ...args }, session: app.session, signal, onProgress }
  const result: Promise<ToolResult> = app.tools.execute(request)
  return {
    told,
    result,
    controller,
    lines: () => told.map(({ line }) => line),
    async hears(line: string): Promise<void> {
      while (!told.some((one) => one.line === line)) {
        await new Promise<void>((resolve) => {
          heard = resolve
        })
      }
    },
  }
}

describe.each(WAITS)('progress of job_output with %j', (args) => {
  it('JB-62 TB-28 the newest line there is, then those that come, on either channel, at most four times a second', async () => {
    const producer = app.start()
    producer.stdout.write('read already\n')
    await app.call('job_output', { job_id: producer.id })
    const call = waitFor(producer, args)
    await call.hears('read already')
    for (const [channel, text] of [
      ['stdout', 'one\ntwo\n'],
      ['stderr', 'a warn'],
      ['stdout', `${'é'.repeat(300)}\n`],
    ] as const) {
      producer[channel].write(text)
      await call.hears(text.startsWith('é') ? `${'é'.repeat(199)}…` : (text.trim().split('\n').at(-1) ?? ''))
    }
    expect(call.lines()).toEqual(['read already', 'two', 'a warn', `${'é'.repeat(199)}…`])
    for (const [index, { at }] of call.told.entries()) if (index > 0) expect(at - (call.told[index - 1]?.at ?? 0)).toBeGreaterThan(230)
    producer.stdout.write('ready\n')
    await producer.end()
    await call.result
  })

  it('JB-32 it moves no cursor: the reply has all that is new, once', async () => {
    const producer = app.start()
    const call = waitFor(producer, args)
    producer.stdout.write('one\n')
    await call.hears('one')
    producer.stdout.write('two\n')
    await call.hears('two')
    producer.stdout.write('ready\n')
    await producer.end()
    expect(textOf(await call.result)).toMatch(/^one\ntwo\nready\n\[/)
    expect(textOf(await app.call('job_output', { job_id: producer.id }))).toMatch(/^\(no new output\)/)
  })

  it.each<[string, (producer: Producer, controller: AbortController) => unknown]>([
    ['the job has ended', (producer) => producer.end()],
    ['the job was stopped', ({ id }) => app.jobs.kill(id, 'host', { by: 'human', text: 'enough' })],
    ['the call is aborted', (_producer, controller) => controller.abort()],
    ['the session closes', () => app.session.scope.close()],
    ['the kernel closes', () => app.kernel.close()],
  ])('JB-62 TB-28 none after %s, and nothing is left behind', async (_what, end) => {
    const before = timers()
    const producer = app.start()
    const call = waitFor(producer, args)
    producer.stdout.write('one\n')
    await call.hears('one')
    producer.stdout.write('two\n')
    await end(producer, call.controller)
    await call.result
    await drained()
    const { length } = call.told
    producer.stdout.write('three\n')
    await drained()
    expect(call.told).toHaveLength(length)
    expect([producer.stdout.pending, producer.stderr.pending]).toEqual([0, 0])
    expect(timers()).toBeLessThanOrEqual(before)
  })

  it('JB-62 TB-28 none after a wait that expired; the job lives on, unwatched', async () => {
    const producer = app.start()
    producer.stdout.write('one\n')
    const call = waitFor(producer, { ...args, timeout_ms: 20 })
    expect(textOf(await call.result)).toContain('[status: running]')
    await drained()
    expect([call.lines(), producer.stdout.pending, producer.stderr.pending]).toEqual([['one'], 0, 0])
    await producer.end()
  })

  it('JB-62 output that cannot be read ends no wait, and is asked for no more than it comes', async () => {
    const producer = app.start()
    producer.stdout.error = 'disk gone'
    const call = waitFor(producer, args)
    await drained()
    const { calls } = producer.stdout
    producer.stderr.write('still here\n')
    await call.hears('still here')
    producer.stderr.write('and here\n')
    await call.hears('and here')
    expect(producer.stdout.calls - calls).toBeLessThan(100)
    producer.stdout.broken = new Error('no disk')
    producer.stderr.write('ready\n')
    await producer.end()
    expect(await call.result).toMatchObject({ isError: false, value: { job: { status: 'completed' } } })
  })
})

describe('progress of job_output', () => {
  it('JB-41 a flood is not read for it: as many looks as there are reports', async () => {
    const producer = app.start()
    const call = waitFor(producer, { wait: true })
    producer.stdout.write('begun\n')
    await call.hears('begun')
    const { calls } = producer.stdout
    const line = `${'x'.repeat(99)}\n`
    for (let n = 0; n < 2_000; n++) {
      producer.stdout.write(line)
      if (n % 100 === 0) await drained()
    }
    producer.stdout.write('over\n')
    await call.hears('over')
    expect(producer.stdout.calls - calls).toBeLessThan(40 * call.told.length)
    await producer.end()
    await call.result
  })

  it('JB-55 the registry that goes under a wait with progress still gives it its reply', async () => {
    const producer = app.start()
    const call = waitFor(producer, { wait: true })
    producer.stdout.write('one\n')
    await call.hears('one')
    const unloading = app.kernel.row('jobs')?.unload()
    await drained()
    await producer.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    expect(textOf(await call.result)).toBe('one\n[status: killed, signal: SIGTERM; job registry closed]')
    await unloading
  })

  it('JB-41 TB-28 nobody follows unless progress was asked for and there is a wait, nor a job that has ended', async () => {
    const producer = app.start()
    const unasked = app.call('job_output', { job_id: producer.id, wait: true })
    await drained()
    expect(producer.stdout.pending).toBe(0)
    const once = waitFor(producer, {})
    producer.stdout.write('one\n')
    await once.result
    await producer.end()
    await unasked
    const late = waitFor(producer, { wait: true })
    await late.result
    await drained()
    expect([once.lines(), late.lines(), producer.stdout.pending]).toEqual([[], [], 0])
  })

  it('JB-28 50 parallel waits with progress leave no listener on the signal of the session, and no timer', async () => {
    const before = timers()
    const producer = app.start()
    const calls = Array.from({ length: 50 }, (_, n) => waitFor(producer, WAITS[n % 2] as object))
    producer.stdout.write('one\n')
    await Promise.all(calls.map((call) => call.hears('one')))
    for (const call of calls.slice(0, 25)) call.controller.abort()
    await producer.end()
    await Promise.all(calls.map(({ result }) => result))
    await drained()
    expect([producer.stdout.pending, producer.stderr.pending]).toEqual([0, 0])
    expect(timers()).toBeLessThanOrEqual(before)
    expect(app.complaints).toEqual([])
  })
})
