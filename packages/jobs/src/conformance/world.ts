import { Scope } from '@tenon/kernel'
import { openSession, type Session } from '@tenon/session'
import type { JobEvent, JobSpec, Jobs } from '../index.ts'
import { Producer } from './producer.ts'

/** One provider under test. */
export interface JobsWorld {
  readonly jobs: Jobs
  /** Ends the registry, within its stop budgets. */
  close(): Promise<void>
}

/** A registry with a controller and a session, and what it announced. */
export class Inside {
  readonly jobs: Jobs
  readonly host = new Scope('host')
  readonly controller = this.host.child('controller')
  readonly session = this.open('one')
  readonly events: JobEvent[] = []

  constructor(jobs: Jobs) {
    this.jobs = jobs
    jobs.attachController(this.controller, { name: 'conformance' })
    jobs.subscribe(this.host, 'all', (event) => void this.events.push(event))
  }

  /** `settled job-1`; the changes between them are left out. */
  get told(): readonly string[] {
    return this.events.flatMap((event) => (event.type === 'changed' ? [] : [`${event.type} ${event.job.id}`]))
  }

  open(id: string): Session {
    return openSession(this.host, { id, cwd: '/' })
  }

  /** Stops quickly: nothing that a test leaves behind holds up the end. */
  start(change: Partial<JobSpec> & { readonly attached?: boolean } = {}): Producer {
    const producer = new Producer()
    this.jobs.start(producer.spec(change.owner ?? this.session, { stopBudgetMs: 20, ...change }))
    return producer
  }
}

export type World = (body: (inside: Inside) => void | Promise<void>) => Promise<void>

export function worlds(open: () => Promise<JobsWorld>): World {
  return async (body) => {
    const { jobs, close } = await open()
    const inside = new Inside(jobs)
    try {
      await body(inside)
    } finally {
      await inside.host.close()
      await close()
    }
  }
}

export const human = { by: 'human', text: 'cancelled by the user' } as const
export const model = { by: 'model', text: 'stopped with job_kill' } as const

/** A call that has to be refused, by its code. */
export function codeOf(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'not refused'
}
