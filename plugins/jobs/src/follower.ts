import type { Caller, JobFollow, JobView, Offsets } from '@tenon/jobs'
import { changed, sizesOf } from './channel.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { offsetsFrom, readPage } from './output.ts'
import { type Channel, isLive, type JobRecord, type Listening } from './record.ts'

/** Most text in one item; larger growth is split. */
const ITEM_BYTES = 65_536

export interface FollowOptions {
  readonly caller: Caller
  readonly from?: Offsets
  readonly signal?: AbortSignal
}

/**
 * One reader among many. Holds offsets only: what it has not been asked for stays with the producer, and what is lost there meanwhile
 * is told as `dropped`. Nothing happens between two items unless a reader or the record says so.
 */
export class Follower implements AsyncIterator<JobFollow, undefined> {
  readonly #jobs: KeptJobs
  readonly #record: JobRecord
  readonly #options: FollowOptions
  readonly #asked: ((result: IteratorResult<JobFollow, undefined>) => void)[] = []
  /** Given to the readers, so that nothing they wait for outlives the follower. */
  readonly #over = new AbortController()
  readonly #offsets = new Map<string, number>()
  readonly #waitingFor = new Set<Channel>()
  /** Channels that will not grow any more. */
  readonly #ended = new Set<Channel>()
  readonly #errors = new Map<string, string>()
  readonly #statuses: JobView[] = []
  readonly #undo: (() => void)[] = []
  #state: 'new' | 'open' | 'last' | 'over' = 'new'

  constructor(jobs: KeptJobs, record: JobRecord, options: FollowOptions) {
    this.#jobs = jobs
    this.#record = record
    this.#options = options
  }

  next(): Promise<IteratorResult<JobFollow, undefined>> {
    return new Promise((resolve) => {
      this.#asked.push(resolve)
      this.#serve()
    })
  }

  /** Ends a `next` that is pending as well. */
  return(): Promise<IteratorResult<JobFollow, undefined>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  get #isOver(): boolean {
    return this.#state === 'over'
  }

  #serve(): void {
    while (this.#asked.length > 0 && !this.#isOver) {
      const item = this.#take()
      if (item !== undefined) this.#asked.shift()?.({ done: false, value: Object.freeze(item) })
      else {
        this.#waitForOutput()
        break
      }
    }
    if (this.#isOver) for (const resolve of this.#asked.splice(0)) resolve({ done: true, value: undefined })
  }

  /** What comes next, if it is there. A stop is told at once; the terminal status after the output that was there at the settlement. */
  #take(): JobFollow | undefined {
    if (this.#state === 'new') return this.#open()
    if (this.#state === 'last') return this.#last()
    if (this.#statuses[0]?.finishedAt === undefined) {
      const status = this.#statuses.shift()
      if (status !== undefined) return { type: 'status', job: status }
    }
    const output = this.#output()
    if (output !== undefined || isLive(this.#record)) return output
    this.#state = 'last'
    const status = this.#statuses.shift()
    return status === undefined ? this.#last() : { type: 'status', job: status }
  }

  #open(): JobFollow | undefined {
    const { signal, caller, from = {} } = this.#options
    this.#state = 'open'
    if (signal?.aborted === true || (caller !== 'host' && caller.scope.signal.aborted)) {
      this.#end()
      return undefined
    }
    const end = (): void => this.#end()
    if (signal !== undefined) this.#undo.push(this.#jobs.aborts.on(signal, end))
    if (caller !== 'host') {
      const { followers } = this.#record.owner
      followers.add(end)
      this.#undo.push(() => followers.delete(end))
    }
    this.#listen()
    const offsets = offsetsFrom(this.#record, from)
    for (const [name, offset] of Object.entries(offsets)) this.#offsets.set(name, offset)
    return { type: 'opened', job: viewOf(this.#jobs, this.#record), from: Object.freeze(offsets) }
  }

  #listen(): void {
    const listening: Listening = {
      status: (job) => {
        this.#statuses.push(job)
        this.#serve()
      },
      attached: () => this.#serve(),
      gone: () => this.#end(),
    }
    const record = this.#record
    record.followers = [...record.followers, listening]
    this.#undo.push(() => {
      record.followers = record.followers.filter((other) => other !== listening)
    })
  }

  #last(): JobFollow {
    const job = viewOf(this.#jobs, this.#record)
    this.#letGo()
    return { type: 'end', job }
  }

  #output(): JobFollow | undefined {
    if (!isLive(this.#record) && this.#hasReadToTheEnd()) return undefined
    const from = Object.fromEntries(this.#offsets)
    const page = readPage(this.#jobs, this.#record, from, ITEM_BYTES)
    const chunks = page.chunks.filter(({ channel, text, dropped, error }) => {
      const isNews = error !== undefined && this.#errors.get(channel) !== error
      if (error !== undefined) this.#errors.set(channel, error)
      return text !== '' || dropped > 0 || isNews
    })
    for (const [name, offset] of Object.entries(page.next)) this.#offsets.set(name, offset)
    return chunks.length === 0 ? undefined : { type: 'output', chunks: Object.freeze(chunks), next: Object.freeze(page.next) }
  }

  /** What survivors write after the settlement stays readable, but is not waited for. */
  #hasReadToTheEnd(): boolean {
    return this.#record.channels.every(({ name, settledSize = 0 }) => (this.#offsets.get(name) ?? 0) >= settledSize)
  }

  #waitForOutput(): void {
    if (this.#isOver || !isLive(this.#record)) return
    for (const channel of this.#record.channels) {
      if (this.#waitingFor.has(channel) || this.#ended.has(channel)) continue
      this.#waitingFor.add(channel)
      // After its size, not after what was read: an unfinished character is held back, and would be news for ever.
      const { size } = sizesOf(this.#jobs, this.#record, channel)
      void changed(this.#jobs, this.#record, channel, size, this.#over.signal).then((more) => {
        this.#waitingFor.delete(channel)
        if (!more) this.#ended.add(channel)
        this.#serve()
      })
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#letGo()
    this.#serve()
  }

  #letGo(): void {
    this.#state = 'over'
    for (const undo of this.#undo.splice(0)) undo()
    this.#over.abort()
  }
}
