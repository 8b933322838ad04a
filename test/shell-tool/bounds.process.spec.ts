import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JobError, Jobs } from '@tenon/jobs'
import { definePlugin, type Scope } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import { Shell, type ShellSpec } from '@tenon/shell'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Composition, compose, delivered, played, plugin, shown, told, until } from './composition.ts'

let app: Composition
let jobs: Jobs
let directory: string
const opened: Composition[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bounds-'))
})
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

async function open(composed: Parameters<typeof compose>[0]): Promise<Composition> {
  app = await compose({ jobs: {}, ...composed })
  opened.push(app)
  jobs = app.jobs
  return app
}

/** As `open`, but no command is prepared before the gate has opened: over the real executor of another composition. */
async function openSlow(tool: 'bash' | 'pwsh', gate: AbortSignal): Promise<void> {
  const { kernel } = await open({ tool })
  const real = kernel.get(Shell) as Shell
  const slow: Shell = {
    sandboxMode: undefined,
    resolve: (request) => real.resolve(request),
    async execute(spec: ShellSpec) {
      const aborted = spec.signal === undefined ? [] : [once(spec.signal, 'abort').then(() => Promise.reject(spec.signal?.reason))]
      if (!gate.aborted) await Promise.race([once(gate, 'abort'), ...aborted])
      return real.execute(spec)
    },
  }
  await open({ tool, shell: { plugin: definePlugin({ name: 'slow', provides: [Shell], activate: (scope) => scope.provide(Shell, slow) }) } })
}
const over = { by: 'host', text: 'test is over' } as const
/** Of commands that have said something by then, also on a machine with much to do. */
const BOUND_MS = 1_500

describe.each(['bash', 'pwsh'] as const)('%s, the bound of a wait, with real processes', (tool) => {
  it('TB-11 output before and after a promotion is each line once, in order', async () => {
    await open({ tool })
    const lines = Array.from({ length: 40 }, (_, n) => [{ do: 'print', text: `${n + 1}\n` } as const, { do: 'sleep', ms: 100 } as const])
    let text = (delivered(await app.run(played(tool, ...lines.flat()), { timeoutMs: BOUND_MS })) as { output: string }).output
    expect(text).not.toBe('')
    const id = `${tool}-1`
    for (;;) {
      const { outcome } = await jobs.wait(id, 300, app.session)
      for (const chunk of jobs.read(id, app.session).chunks) text += chunk.text
      if (outcome === 'settled') break
    }
    expect(text).toBe(Array.from({ length: 40 }, (_, n) => `${n + 1}\n`).join(''))
  })

  it('TB-13 of calls whose bound is before, about and after their end each is foreground without a record, or promoted with one that settles', async () => {
    await open({ tool })
    const sleeping = (ms: number) => played(tool, { do: 'sleep', ms })
    const batches = tool === 'bash' ? 15 : 5
    // One that has to be promoted and one that has to be awaited, then those that end at about their bound.
    const calls = [app.run(sleeping(2 * BOUND_MS), { timeoutMs: BOUND_MS }), app.run(sleeping(1), { timeoutMs: 30_000 })]
    expect((await Promise.all(calls)).map((result) => delivered(result).kind)).toEqual(['promoted', 'foreground'])
    const promoted = [`${tool}-1`]
    for (let batch = 0; batch < batches; batch++) {
      const bounds = Array.from({ length: 20 }, (_, at) => 200 + at * 15)
      const values = await Promise.all(bounds.map((timeoutMs) => app.run(sleeping(200), { timeoutMs })))
      for (const value of values.map(delivered)) if (value.kind === 'promoted') promoted.push(value.jobId)
    }
    const count = 2 + batches * 20
    const records = () => jobs.list('host').map(({ id }) => id)
    expect(new Set(records())).toEqual(new Set(promoted))
    for (const id of promoted) expect(await jobs.wait(id, 10_000, 'host')).toMatchObject({ outcome: 'settled', job: { attachment: 'detached' } })
    const ofType = (type: string) => app.events.filter((event) => event.type === type).length
    expect([ofType('registered'), ofType('detached'), ofType('settled'), ofType('removed')]).toEqual([
      count,
      promoted.length,
      count,
      count - promoted.length,
    ])
  })

  it('TB-12 TB-18 a bound that is over while the command is being started: what has begun goes on, and what is told as never run never runs', async () => {
    await open({ tool, jobs: { maxJobsPerOwner: 100, maxDetachedPerOwner: 100 } })
    // Where the shell is has been found out: nothing is left to prepare.
    await app.run(played(tool, { do: 'exit', code: 0 }))
    const values: { readonly file: string; readonly value: ReturnType<typeof delivered> }[] = []
    for (let index = 0; index < 40; index++) {
      const file = join(directory, `began.${index}`)
      const script = played(tool, { do: 'touch', file }, { do: 'sleep', ms: 300 }, { do: 'print', text: 'over' })
      values.push({ file, value: delivered(await app.run(script, { timeoutMs: 1 + (index % 4) })) })
    }
    const promoted = values.flatMap(({ value }) => (value.kind === 'promoted' ? [value.jobId] : []))
    expect(promoted.length).toBeGreaterThan(20)
    for (const id of promoted) {
      expect(await jobs.wait(id, 30_000, 'host')).toMatchObject({ outcome: 'settled', job: { status: 'completed' } })
      expect(jobs.readAt(id, {}, 'host').chunks.map(({ text }) => text)).toEqual(['over'])
    }
    for (const { file, value } of values) if (value.kind === 'foreground' && value.timedOut) expect(existsSync(file)).toBe(false)
  })

  it('TB-18 preparation that outlives the bound: an empty timed-out value, nothing runs even later, no record', async () => {
    const gate = new AbortController()
    await openSlow(tool, gate.signal)
    const file = join(directory, 'ran')
    const result = await app.run(played(tool, { do: 'touch', file }), { timeoutMs: 60 })
    expect(shown(result)).toBe('(no output)\n[timed out after 60ms]')
    const value = delivered(result)
    expect(value).toMatchObject({ kind: 'foreground', timedOut: true, exitCode: null, signal: null, timeoutMs: 60 })
    expect(value).not.toHaveProperty('stopped')
    expect(app.events.find(({ type }) => type === 'stopping')).toMatchObject({ job: { stop: { by: 'call', text: 'timed out during preparation' } } })
    expect(jobs.list('host')).toEqual([])
    gate.abort()
    // What is prepared from now on runs, and comes after what must not.
    const next = join(directory, 'next')
    await app.run(played(tool, { do: 'touch', file: next }))
    expect([existsSync(file), existsSync(next)]).toEqual([false, true])
  })

  it('TB-20 promoted at the detached limit; background starts are then refused', async () => {
    await open({ tool, jobs: { maxDetachedPerOwner: 1, maxJobsPerOwner: 5 } })
    const command = played(tool, { do: 'linger' })
    await app.run(command, { run_in_background: true })
    expect(delivered(await app.run(command, { timeoutMs: BOUND_MS }))).toMatchObject({ kind: 'promoted', jobId: `${tool}-2` })
    const refused = async () => told(await app.run(command, { run_in_background: true }))
    const words = 'JOB_LIMIT_DETACHED: background job limit reached for this session (limit: 1); wait for one to finish or stop one with job_kill'
    expect(await refused()).toBe(words)
    for (const id of [1, 2]) {
      expect(await refused()).toBe(words)
      jobs.kill(`${tool}-${id}`, 'host', over)
      await jobs.wait(`${tool}-${id}`, 10_000, 'host')
    }
    expect(shown(await app.run(played(tool, { do: 'exit', code: 0 }), { run_in_background: true }))).toBe(`started background job ${tool}-3`)
    await jobs.wait(`${tool}-3`, 10_000, 'host')
  })

  it('TB-24 timeouts from config, call and cap, through base, job-backed and background', async () => {
    const executor = { timeoutMs: 20_000, maxTimeoutMs: 30_000 }
    for (const config of [{ enableRunInBackground: false }, {}, { promoteOnTimeout: false }]) {
      await open({ tool, config, executor })
      for (const [given, effective] of [
        [undefined, 20_000],
        [12_345, 12_345],
        [99_999, 30_000],
      ] as const) {
        const args = given === undefined ? {} : { timeoutMs: given }
        expect(delivered(await app.run(played(tool, { do: 'exit', code: 0 }), args))).toMatchObject({ timeoutMs: effective })
      }
    }
    await open({ tool, executor })
    const value = delivered(
      await app.run(played(tool, { do: 'sleep', ms: 300 }, { do: 'print', text: 'late' }), { run_in_background: true, timeoutMs: 7 }),
    )
    const { job } = await jobs.wait((value as { jobId: string }).jobId, 10_000, app.session)
    expect(job).toMatchObject({ status: 'completed', detail: { exitCode: 0 }, output: { stdout: { size: 4 } } })
  })
})

describe.each(['bash', 'pwsh'] as const)('%s, a start that is refused, with real processes', (tool) => {
  /** Work that leaves a file, and never ends by itself: cut off at its bound; in the background it is not begun. */
  const runsWithout = async (code: string, reason: string) => {
    app.events.length = 0
    const [begun, never] = [join(directory, 'begun'), join(directory, 'never')]
    const work = (file: string) => played(tool, { do: 'touch', file }, { do: 'linger' })
    const result = await app.run(work(begun), { timeoutMs: BOUND_MS })
    expect(shown(result)).toBe(`(no output)\n[timed out after ${BOUND_MS}ms]\n[killed by signal: SIGTERM]`)
    expect(app.warnings).toEqual([{ code, message: `tool "${tool}": the command runs without a job: ${reason}` }])
    expect(app.events).toEqual([])
    expect(told(await app.run(work(never), { run_in_background: true }))).toBe(`${code}: ${reason}`)
    expect([existsSync(begun), existsSync(never)]).toEqual([true, false])
  }

  it('TB-19 refused for the total limit: the executor’s deadline, one warning, no job event; in the background the refusal is told', async () => {
    await open({ tool, jobs: { maxJobsPerOwner: 1, maxDetachedPerOwner: 1 } })
    const held = app.run(played(tool, { do: 'linger' }))
    const job = await until(() => jobs.list('host')[0])
    await runsWithout('JOB_LIMIT_TOTAL', 'job limit reached for this session (limit: 1)')
    jobs.kill(job.id, 'host', over)
    expect(shown(await held)).toContain('[stopped: test is over]')
  })

  it('TB-19 refused without a controller that serves the session', async () => {
    await open({ tool, jobs: undefined })
    app.kernel.load(plugin(jobsPlugin))
    await app.kernel.settled()
    app.jobs.attachController(app.kernel.scope, { name: 'for others', serves: () => false })
    await runsWithout('JOB_NO_CONTROLLER', 'background jobs unavailable: no job controller serves this session')
  })

  it('TB-19 refused by a registry that has closed under the call', async () => {
    await open({ tool, jobs: undefined })
    const closed = {
      start: () => {
        throw new JobError('JOBS_CLOSED', 'job registry closed')
      },
      whileControlled: (scope: Scope, body: (branch: Scope) => void) => body(scope),
    }
    app.kernel.load(definePlugin({ name: 'jobs', provides: [Jobs], activate: (scope) => scope.provide(Jobs, closed as unknown as Jobs) }))
    await app.kernel.settled()
    await runsWithout('JOBS_CLOSED', 'job registry closed')
  })
})
