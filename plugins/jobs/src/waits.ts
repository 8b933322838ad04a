import { type Caller, JobError, type JobView } from '@tenon/jobs'
import { LONGEST_TIMER_MS } from './config.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { isLive, type JobRecord, type Waiter } from './record.ts'
import { text } from './text.ts'

export interface Waited {
  readonly outcome: 'settled' | 'expired'
  readonly job: JobView
}

/**
 * One timer and one abort listener, both gone when it ends. A waiter leaves the set in the step that ends it, so a settlement that
 * follows, even in the same tick, is not awaited by it.
 */
export function wait(jobs: KeptJobs, record: JobRecord, timeoutMs: number, caller: Caller, signal: AbortSignal | undefined): Promise<Waited> {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 0 || timeoutMs > LONGEST_TIMER_MS) {
    return Promise.reject(new JobError('JOB_TIMEOUT_INVALID', text.invalidTimeout(timeoutMs)))
  }
  if (!isLive(record)) return Promise.resolve(waited(jobs, record, 'settled'))
  if (signal?.aborted === true) return Promise.reject(aborted(record, signal))
  if (timeoutMs === 0) return Promise.resolve(waited(jobs, record, 'expired'))
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      record.waiters = record.waiters.filter((other) => other !== waiter)
      cancelTimer()
      forgetSignal?.()
    }
    const waiter: Waiter = {
      byOwner: caller !== 'host',
      end(outcome) {
        leave()
        resolve(waited(jobs, record, outcome))
      },
      fail(error) {
        leave()
        reject(error)
      },
    }
    record.waiters = [...record.waiters, waiter]
    const cancelTimer = jobs.activation.clock.after(timeoutMs, () => waiter.end('expired'))
    const forgetSignal = signal && jobs.aborts.on(signal, () => waiter.fail(aborted(record, signal)))
  })
}

export function releaseWaiters({ waiters }: JobRecord, outcome: 'settled' | 'expired'): void {
  for (const waiter of waiters) waiter.end(outcome)
}

function waited(jobs: KeptJobs, record: JobRecord, outcome: 'settled' | 'expired'): Waited {
  return Object.freeze({ outcome, job: viewOf(jobs, record) })
}

function aborted({ id }: JobRecord, { reason }: AbortSignal): JobError {
  return new JobError('JOB_WAIT_ABORTED', text.waitAborted, { cause: reason, details: { job: id } })
}
