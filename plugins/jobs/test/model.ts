import type { JobOutcome, StopReason } from '@tenon/jobs'

/** What the registry has to be, written as plainly as it can be: no promises, no timers, one step after the other. */
export interface ModelJob {
  readonly id: string
  status: 'running' | 'stopping' | JobOutcome['status']
  attachment: 'foreground' | 'detached'
  held: boolean
  stop: StopReason | undefined
  /** What the producer has said, and the registry has not heard yet. */
  said: JobOutcome | undefined
  notice: 'none' | 'due' | 'sent' | 'withheld'
  settlements: { awaited: boolean; cause: string; status: string }[]
  written: string
  writtenAtEnd: string
  removed: boolean
}

export interface ModelWait {
  readonly job: ModelJob
  readonly byOwner: boolean
  result: 'open' | 'settled' | 'expired' | 'aborted'
}

interface Timer {
  readonly at: number
  readonly fire: () => void
}

export const STOP_BUDGET_MS = 50

export class Model {
  now = 0
  readonly jobs: ModelJob[] = []
  readonly waits: ModelWait[] = []
  #timers: Timer[] = []

  start(id: string, attachment: 'foreground' | 'detached'): ModelJob {
    const job: ModelJob = {
      id,
      status: 'running',
      attachment,
      held: attachment === 'foreground',
      stop: undefined,
      said: undefined,
      notice: 'none',
      settlements: [],
      written: '',
      writtenAtEnd: '',
      removed: false,
    }
    this.jobs.push(job)
    return job
  }

  wait(job: ModelJob, ms: number, byOwner: boolean): ModelWait {
    const wait: ModelWait = { job, byOwner, result: 'open' }
    this.waits.push(wait)
    if (!isLive(job)) wait.result = 'settled'
    else if (ms === 0) wait.result = 'expired'
    else {
      this.#after(ms, () => {
        if (wait.result === 'open') wait.result = 'expired'
      })
    }
    return wait
  }

  abort(wait: ModelWait): void {
    if (wait.result === 'open') wait.result = 'aborted'
  }

  promote(job: ModelJob): string {
    if (!isLive(job) || !job.held) return 'not-foreground'
    for (const wait of this.#open(job)) wait.result = 'expired'
    return 'requested'
  }

  detach(job: ModelJob): void {
    job.held = false
    if (isLive(job)) job.attachment = 'detached'
  }

  kill(job: ModelJob, reason: StopReason): string {
    if (!isLive(job)) return 'already-finished'
    if (job.status === 'running') {
      job.status = 'stopping'
      job.stop = reason
      this.#after(STOP_BUDGET_MS, () => this.settle(job, { status: 'failed' }, true))
    }
    return 'requested'
  }

  settle(job: ModelJob, { status }: JobOutcome, overran = false): void {
    if (!isLive(job)) return
    const awaited = job.held || this.#open(job).some(({ byOwner }) => byOwner)
    const known = job.stop?.by === 'call' || (job.stop?.by === 'model' && !overran)
    job.status = status
    job.writtenAtEnd = job.written
    job.notice = awaited || known ? 'withheld' : 'due'
    job.settlements.push({ awaited, cause: job.stop !== undefined && status !== 'completed' ? 'kill' : 'producer', status })
    for (const wait of this.#open(job)) wait.result = 'settled'
  }

  /** The owner reads. */
  read(job: ModelJob): void {
    if (!isLive(job) && job.notice === 'due') job.notice = 'withheld'
  }

  claim(job: ModelJob): boolean {
    if (job.notice !== 'due') return false
    job.notice = 'sent'
    return true
  }

  /** Promises that are due run: producers are heard. */
  flush(): void {
    for (const job of this.jobs) if (job.said !== undefined) this.settle(job, job.said)
  }

  advance(ms: number): void {
    const end = this.now + ms
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#timers = this.#timers.filter((timer) => timer !== due)
      this.now = due.at
      due.fire()
    }
    this.now = end
  }

  #after(ms: number, fire: () => void): void {
    this.#timers.push({ at: this.now + ms, fire })
  }

  #open(job: ModelJob): ModelWait[] {
    return this.waits.filter((wait) => wait.job === job && wait.result === 'open')
  }
}

export function isLive({ status }: ModelJob): boolean {
  return status === 'running' || status === 'stopping'
}
