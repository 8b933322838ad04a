import type { JobSpec } from '@tenon/jobs'
import { Producer, settled } from '@tenon/jobs/conformance'
import { Kernel, Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { jobsPlugin } from '../src/plugin.ts'
import { FakeClock } from './fake-clock.ts'
import { human, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

const code = (start: () => unknown): string => {
  try {
    start()
  } catch (error) {
    return (error as { code: string }).code
  }
  return 'started'
}
const refusal = (start: () => unknown): string => {
  try {
    start()
  } catch (error) {
    return (error as Error).message
  }
  return 'started'
}

describe('a controller', () => {
  it('JB-04 without one nothing starts; with one it does, until the last one leaves', async () => {
    await app.controller.close()
    const start = () => app.start()
    expect(code(start)).toBe('JOB_NO_CONTROLLER')
    expect(refusal(start)).toBe('background jobs unavailable: no job controller serves this session')
    const [one, two] = [new Scope('one'), new Scope('two')]
    app.jobs.attachController(one, { name: 'one' })
    app.jobs.attachController(two, { name: 'two' })
    expect(code(start)).toBe('started')
    await one.close()
    expect(code(start)).toBe('started')
    await two.close()
    expect(code(start)).toBe('JOB_NO_CONTROLLER')
  })

  it('JB-04 serves the sessions it says it serves, and none if it cannot say', async () => {
    await app.controller.close()
    const other = app.open('other')
    app.jobs.attachController(app.kernel.scope, { name: 'picky', serves: (session) => session === app.session })
    expect(code(() => app.start())).toBe('started')
    expect(code(() => app.start({ owner: other }))).toBe('JOB_NO_CONTROLLER')
    app.jobs.attachController(app.kernel.scope, {
      name: 'broken',
      serves: () => {
        throw new Error('no')
      },
    })
    expect(code(() => app.start({ owner: other }))).toBe('JOB_NO_CONTROLLER')
    expect(app.complaints).toContain('job controller "broken" failed to say whom it serves: no')
  })

  it('JB-04 a closed scope attaches none', async () => {
    await app.controller.close()
    expect(() => app.jobs.attachController(app.controller, { name: 'late' })).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(code(() => app.start())).toBe('JOB_NO_CONTROLLER')
  })
})

describe('a spec', () => {
  const odd: readonly [string, Partial<JobSpec>][] = [
    ...['', ' ', 'Bash', '1a', 'a_b', 'a b', 'a'.repeat(33)].map((kind) => ['kind', { kind }] as [string, Partial<JobSpec>]),
    ...['', ' \n\t ', '\0\0'].map((label) => ['label', { label }] as [string, Partial<JobSpec>]),
    ...[0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1, 255, 1_000_001].map(
      (replyLimitBytes) => ['replyLimitBytes', { replyLimitBytes }] as [string, Partial<JobSpec>],
    ),
    ...[0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1, 2_147_483_648].map(
      (stopBudgetMs) => ['stopBudgetMs', { stopBudgetMs }] as [string, Partial<JobSpec>],
    ),
    ['attachment', { attachment: 'background' as never }],
    ['detail.command', { detail: { command: 5 as never } }],
    ['run', { run: undefined as never }],
  ]
  it.each(odd)('JB-05 is refused by the name of its field: %s, %j', (field, change) => {
    expect(refusal(() => app.start(change))).toMatch(new RegExp(`^invalid job ${field}: expected`))
    expect(code(() => app.start(change))).toBe('JOB_SPEC_INVALID')
  })

  it.each([
    { kind: 'a' },
    { kind: `a${'-1'.repeat(15)}` },
    { label: 'x' },
    { replyLimitBytes: 256 },
    { replyLimitBytes: 1_000_000 },
    { stopBudgetMs: 1 },
    { stopBudgetMs: 2_147_483_647 },
  ])('JB-05 is accepted at the end of a range: %j', (change) => {
    expect(code(() => app.start(change))).toBe('started')
  })

  it('JB-05 what run() returns is checked too', () => {
    expect(refusal(() => app.jobs.start({ ...new Producer().spec(app.session), run: () => ({}) as never }))).toBe(
      'invalid job run: expected it to return a function "cancel"',
    )
    expect(app.list()).toEqual([])
  })

  it.each([
    ['what a plugin without types may return', 'expected it to return at once, not a promise', () => Promise.reject(new Error('late'))],
    ['its end without a way to stop it', 'expected it to return a function "cancel"', () => ({ done: Promise.reject(new Error('late')) })],
  ])('JB-05 %s is refused, and its rejection is nobody’s', async (_what, problem, run) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    expect(refusal(() => app.jobs.start({ ...new Producer().spec(app.session), run: run as never }))).toBe(`invalid job run: ${problem}`)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect([app.list(), unhandled]).toEqual([[], []])
  })

  it.each(['\u0007', '\u001b ', '\u0085', ' \0'])('JB-22 a line of control characters only is blank: %j', (unseen) => {
    expect(app.get(app.start({ label: `${unseen}\necho hi` }).id).label).toBe('echo hi')
  })

  it('JB-22 its label is the first line that is not blank, with control characters as spaces, and the command is complete', () => {
    const label = (text: string) => app.get(app.start({ label: text, detail: { command: text } }).id)
    expect(label('one\ntwo').label).toBe('one')
    expect(label('\n  \n\r\n  second\r\nthird').label).toBe('second')
    expect(label('a\tb\u0007c\u009bd').label).toBe('a b c d')
    const long = label('x'.repeat(1_048_576))
    expect(long.label).toBe(`${'x'.repeat(119)}…`)
    expect(long.detail.command).toHaveLength(1_048_576)
    expect(label('x'.repeat(120)).label).toBe('x'.repeat(120))
    expect(label(`${'x'.repeat(119)}🦀y`).label).toBe(`${'x'.repeat(119)}…`)
    expect(label(`${'x'.repeat(118)}🦀yz`).label).toBe(`${'x'.repeat(118)}🦀…`)
    expect(label('🦀'.repeat(121)).label).toBe(`${'🦀'.repeat(119)}…`)
    expect(label('a\ud800b').label).toBe('a\ufffdb')
    expect(app.get(app.start({ detail: { command: 'c', description: 'd' } }).id).detail).toEqual({ command: 'c', description: 'd' })
  })
})

describe('checks', () => {
  it('JB-06 fail in this order, and a refused start calls nothing, announces nothing, burns no number', async () => {
    const small = await openJobs({ maxDetachedPerOwner: 1, maxJobsPerOwner: 1 })
    let ran = 0
    const spec = (owner: Session, change: Partial<JobSpec> = {}): JobSpec => ({
      ...new Producer().spec(owner),
      run: () => {
        ran++
        return { cancel: () => undefined, done: new Promise(() => undefined) }
      },
      ...change,
    })
    const gone = small.open('gone')
    await gone.scope.close()
    await small.controller.close()
    expect(code(() => small.jobs.start(spec(gone, { kind: '' })))).toBe('JOB_NO_CONTROLLER')
    small.jobs.attachController(small.kernel.scope, { name: 'test' })
    expect(code(() => small.jobs.start(spec(gone, { kind: '' })))).toBe('JOB_SPEC_INVALID')
    expect(code(() => small.jobs.start(spec(gone)))).toBe('JOB_SESSION_CLOSED')
    expect(refusal(() => small.jobs.start(spec(gone)))).toBe('session "gone" is closed')
    expect([ran, small.told]).toEqual([0, []])
    expect(small.jobs.start(spec(small.session))).toBe('test-1')
    expect(code(() => small.jobs.start(spec(small.session)))).toBe('JOB_LIMIT_DETACHED')
    expect(code(() => small.jobs.start(spec(small.session, { attachment: 'foreground' })))).toBe('JOB_LIMIT_TOTAL')
    expect([ran, small.told]).toEqual([1, ['changed', 'registered test-1']])
    expect(small.jobs.start(spec(small.open('two')))).toBe('test-2')
    await small[Symbol.asyncDispose]()
  })

  it('JB-06 what is no session is refused', () => {
    expect(refusal(() => app.jobs.start(new Producer().spec({} as Session)))).toBe('invalid job owner: expected a session')
  })

  it('JB-07 ids count per kind, and are not used again after a removal or the end of a session', async () => {
    const one = app.start({ kind: 'bash' })
    const other = app.start({ kind: 'pwsh' })
    expect([one.id, other.id]).toEqual(['bash-1', 'pwsh-1'])
    await one.end()
    app.jobs.remove('bash-1', app.session)
    expect(app.start({ kind: 'bash' }).id).toBe('bash-2')
    const second = app.open('second')
    const last = app.start({ kind: 'bash', owner: second })
    const closing = second.scope.close()
    await last.end()
    await closing
    expect(app.start({ kind: 'bash' }).id).toBe('bash-4')
  })

  it('JB-08 what run() throws is thrown: no record, no event, the slot is free', async () => {
    const thrown = { odd: true }
    const waits: Promise<unknown>[] = []
    const run: JobSpec['run'] = ({ id }) => {
      waits.push(app.jobs.wait(id, 1_000, app.session))
      app.jobs.kill(id, app.session, human)
      app.jobs.detach(id, app.session)
      throw thrown
    }
    let caught: unknown
    try {
      app.start({ run, attachment: 'foreground' })
    } catch (error) {
      caught = error
    }
    expect(caught).toBe(thrown)
    await expect(waits[0]).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    expect([app.list(), app.told, app.clock.timers]).toEqual([[], [], 0])
    expect(code(() => app.jobs.get('test-1', 'host'))).toBe('JOB_UNKNOWN')
    for (let n = 0; n < 10; n++) expect(code(() => app.start())).toBe('started')
  })

  it('JB-08 a session that closes inside run(): settled by teardown, in the order of events, nothing left', async () => {
    const producer = new Producer()
    const { run } = producer.spec(app.session)
    let closing: Promise<void> | undefined
    const id = app.jobs.start(
      producer.spec(app.session, {
        run: (job) => {
          const started = run(job)
          closing = app.session.scope.close()
          expect(producer.cancels).toEqual([])
          return started
        },
      }),
    )
    expect(producer.cancels).toEqual([{ by: 'host', text: 'session closed' }])
    await producer.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    await closing
    expect(app.told.filter((told) => told !== 'changed')).toEqual([`registered ${id}`, `stopping ${id}`, `settled ${id}`, `removed ${id}`])
    expect(app.settlements).toMatchObject([{ cause: 'teardown', awaited: false, job: { notice: 'withheld' } }])
    expect(app.jobs.list('host')).toEqual([])
  })

  it('JB-08 a session that closes inside a run() that throws ends without it', async () => {
    let closing: Promise<void> | undefined
    const run = () => {
      closing = app.session.scope.close()
      throw new Error('no')
    }
    expect(refusal(() => app.start({ run }))).toBe('no')
    await closing
    expect([app.told, app.jobs.list('host')]).toEqual([[], []])
  })

  it('what happens while run() is on the stack is announced after the start', () => {
    const producer = new Producer()
    const { run } = producer.spec(app.session)
    const spec = producer.spec(app.session, {
      attachment: 'foreground',
      run: (job) => {
        expect(app.jobs.detach(job.id, app.session).attachment).toBe('detached')
        expect(app.told).toEqual([])
        return run(job)
      },
    })
    app.jobs.start(spec)
    expect(app.told).toEqual(['changed', 'registered test-1', 'changed', 'detached test-1'])
  })

  it('a stop that comes while run() is on the stack is passed on when it returns', async () => {
    const producer = new Producer()
    const { run } = producer.spec(app.session)
    app.jobs.start(
      producer.spec(app.session, {
        run: (job) => {
          expect(app.jobs.kill(job.id, app.session, human)).toBe('requested')
          expect(app.get(job.id)).toMatchObject({ status: 'running' })
          expect(app.get(job.id).stop).toBeUndefined()
          return run(job)
        },
      }),
    )
    expect(producer.cancels).toEqual([human])
    expect(app.get(producer.id)).toMatchObject({ status: 'stopping', stop: human })
    expect(app.told).toEqual(['changed', 'registered test-1', 'changed', 'stopping test-1'])
  })
})

describe('admission', () => {
  it('JB-09 the 11th background start is refused, and another session is not affected', () => {
    for (let n = 0; n < 10; n++) app.start()
    expect(refusal(() => app.start())).toBe(
      'background job limit reached for this session (limit: 10); wait for one to finish or stop one with job_kill',
    )
    expect(code(() => app.start())).toBe('JOB_LIMIT_DETACHED')
    expect(code(() => app.start({ owner: app.open('two') }))).toBe('started')
  })

  it('JB-09 the 65th job of any attachment is refused', () => {
    for (let n = 0; n < 64; n++) app.start({ attachment: n < 5 ? 'detached' : 'foreground' })
    for (const attachment of ['foreground', 'detached'] as const) {
      expect(refusal(() => app.start({ attachment }))).toBe('job limit reached for this session (limit: 64)')
      expect(code(() => app.start({ attachment }))).toBe('JOB_LIMIT_TOTAL')
    }
  })

  it('JB-10 limit 2 and four starts in one tick: two records, two registered; what a call holds does not count', async () => {
    await using small = await openJobs({ maxDetachedPerOwner: 2 })
    const starts = [0, 1, 2, 3].map(() => code(() => small.start()))
    expect(starts).toEqual(['started', 'started', 'JOB_LIMIT_DETACHED', 'JOB_LIMIT_DETACHED'])
    expect(small.list()).toEqual(['test-1', 'test-2'])
    expect(small.told.filter((told) => told.startsWith('registered'))).toEqual(['registered test-1', 'registered test-2'])
    expect(small.start({ attachment: 'foreground' }).id).toBe('test-3')
  })

  it('JB-11 a stopping job still counts; a start from inside its settled listener succeeds', async () => {
    await using small = await openJobs({ maxDetachedPerOwner: 1, maxJobsPerOwner: 1 })
    const first = small.start()
    small.jobs.kill(first.id, small.session, human)
    expect(code(() => small.start())).toBe('JOB_LIMIT_DETACHED')
    const again: string[] = []
    small.jobs.subscribe(small.kernel.scope, { owner: small.session }, (event) => {
      if (event.type === 'settled' && again.length === 0) again.push(small.start().id)
    })
    await first.end({ status: 'killed' })
    expect(again).toEqual(['test-2'])
  })

  it('JB-12 detaching at the limit succeeds; background starts are refused until the count is below it', async () => {
    await using small = await openJobs({ maxDetachedPerOwner: 1 })
    const background = small.start()
    const held = small.start({ attachment: 'foreground' })
    expect(small.jobs.detach(held.id, small.session)).toMatchObject({ attachment: 'detached', status: 'running' })
    expect(code(() => small.start())).toBe('JOB_LIMIT_DETACHED')
    await background.end()
    expect(code(() => small.start())).toBe('JOB_LIMIT_DETACHED')
    await held.end()
    expect(code(() => small.start())).toBe('started')
  })
})

describe('config', () => {
  const numbers = ['maxDetachedPerOwner', 'maxJobsPerOwner', 'stopBudgetMs', 'settledPerOwner', 'settledMaxAgeMs', 'replyLimitBytes']
  const load = async (config: Record<string, unknown>) => {
    await using kernel = new Kernel()
    await kernel.load(jobsPlugin(new FakeClock()), config).ready()
  }
  it.each(numbers.flatMap((name) => [0, -1, 1.5, Number.NaN, '5'].map((value) => [name, value] as const)))(
    'JB-13 %s refuses %j',
    async (name, value) => {
      await expect(load({ [name]: value })).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(name) })
    },
  )

  it('JB-13 contradictory limits refuse to load, naming both', async () => {
    await expect(load({ maxDetachedPerOwner: 3, maxJobsPerOwner: 2 })).rejects.toMatchObject({
      message: expect.stringMatching(/maxDetachedPerOwner.*maxJobsPerOwner/),
    })
    await expect(load({ maxJobsPerOwner: 9 })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await load({ maxDetachedPerOwner: 2, maxJobsPerOwner: 2 })
  })

  it('JB-13 an unknown key is refused with what was meant', async () => {
    await expect(load({ stopBudget: 5 })).rejects.toMatchObject({ message: expect.stringContaining('did you mean "stopBudgetMs"') })
  })
})

describe('sessions', () => {
  it('JB-02 a second session with the same id is a stranger to the first one’s jobs', async () => {
    const { id } = app.start()
    const twin = app.open('one')
    expect(app.jobs.list(twin)).toEqual([])
    const verbs: readonly (() => unknown)[] = [
      () => app.jobs.get(id, twin),
      () => app.jobs.detach(id, twin),
      () => app.jobs.promote(id, twin),
      () => app.jobs.kill(id, twin, human),
      () => app.jobs.remove(id, twin),
      () => app.jobs.read(id, twin),
      () => app.jobs.readAt(id, {}, twin),
      () => app.jobs.follow(id, { caller: twin }),
    ]
    for (const verb of verbs) expect(code(verb)).toBe('JOB_FOREIGN')
    await expect(app.jobs.wait(id, 0, twin)).rejects.toMatchObject({ code: 'JOB_FOREIGN', message: `job ${id} belongs to another session` })
    expect(app.get(id).status).toBe('running')
    await settled()
  })
})
