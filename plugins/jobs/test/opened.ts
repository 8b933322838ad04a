import { type JobEvent, type JobId, type JobSpec, Jobs, type JobView } from '@tenon/jobs'
import { Producer } from '@tenon/jobs/conformance'
import { Kernel, Scope } from '@tenon/kernel'
import { openSession, type Session } from '@tenon/session'
import { type LogLine, recordedLog } from '@tenon/testkit'
import type { JobsConfig } from '../src/config.ts'
import { jobsPlugin } from '../src/plugin.ts'
import { FakeClock } from './fake-clock.ts'

/** A kernel with the registry on a clock of the test's, a controller, a session, and a record of what was announced and logged. */
export class Opened implements AsyncDisposable {
  readonly kernel: Kernel
  readonly clock: FakeClock
  readonly log: readonly LogLine[]
  readonly events: JobEvent[] = []
  /** Of the events: `settled test-1`; of the changes: `changed`. */
  readonly told: string[] = []
  readonly controller = new Scope('controller')
  jobs: Jobs
  session: Session

  constructor(kernel: Kernel, clock: FakeClock, log: readonly LogLine[]) {
    this.kernel = kernel
    this.clock = clock
    this.log = log
    this.jobs = kernel.get(Jobs) as Jobs
    this.session = this.open('one')
    this.jobs.attachController(this.controller, { name: 'test' })
    this.jobs.subscribe(kernel.scope, 'all', (event) => {
      this.events.push(event)
      this.told.push(event.type === 'changed' ? 'changed' : `${event.type} ${event.job.id}`)
    })
  }

  open(id: string): Session {
    return openSession(this.kernel.scope, { id, cwd: '/' })
  }

  start(change: Partial<JobSpec> & { readonly attached?: boolean; readonly keep?: number } = {}): Producer {
    const { keep, ...spec } = change
    const producer = new Producer(keep)
    this.jobs.start(producer.spec(change.owner ?? this.session, spec))
    return producer
  }

  get(id: JobId): JobView {
    return this.jobs.get(id, 'host')
  }

  list(session = this.session): readonly JobId[] {
    return this.jobs.list(session).map(({ id }) => id)
  }

  /** The settled events so far. */
  get settlements() {
    return this.events.flatMap((event) => (event.type === 'settled' ? [event] : []))
  }

  get complaints(): readonly string[] {
    return this.log.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Whatever still runs is given up when its time is over.
    const closing = this.kernel.close()
    for (let turn = 0; turn < 5; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      this.clock.advance(10_000)
    }
    await closing
  }
}

export async function openJobs(config: Partial<JobsConfig> = {}): Promise<Opened> {
  const { logger, lines } = recordedLog()
  const clock = new FakeClock()
  const kernel = new Kernel({ logger })
  await kernel.load(jobsPlugin(clock), config).ready()
  return new Opened(kernel, clock, lines)
}

export const human = { by: 'human', text: 'cancelled by the user' } as const
export const model = { by: 'model', text: 'stopped with job_kill' } as const
export const byCall = { by: 'call', text: 'tool call aborted' } as const
