import { type ChannelReader, type JobId, type JobOutcome, Jobs } from '@tenon/jobs'
import { Kernel } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import { openSession, type Session } from '@tenon/session'

/** A job that ends when it is told to. */
export interface Work {
  readonly id: JobId
  end(outcome: JobOutcome): void
}

/** A registry without bounds that matter here. */
export class Registry implements AsyncDisposable {
  readonly #kernel: Kernel
  readonly jobs: Jobs
  readonly session: Session

  private constructor(kernel: Kernel, jobs: Jobs) {
    this.#kernel = kernel
    this.jobs = jobs
    jobs.attachController(kernel.scope, { name: 'bench' })
    this.session = openSession(kernel.scope, { id: 'bench', cwd: '/' })
  }

  static async open(): Promise<Registry> {
    const kernel = new Kernel()
    await kernel.load(jobsPlugin, { maxDetachedPerOwner: 10_000, maxJobsPerOwner: 10_000, settledPerOwner: 100_000, stopBudgetMs: 50 }).ready()
    const jobs = kernel.get(Jobs)
    if (jobs === undefined) throw new Error('no registry')
    return new Registry(kernel, jobs)
  }

  start(attachment: 'foreground' | 'detached', stdout: ChannelReader = silent): Work {
    let end: Work['end'] = () => undefined
    const done = new Promise<JobOutcome>((resolve) => {
      end = resolve
    })
    const id = this.jobs.start({
      kind: 'bench',
      label: 'make all',
      detail: { command: 'make all' },
      owner: this.session,
      attachment,
      run: ({ attach }) => {
        attach({ channels: { stdout, stderr: silent } })
        return { cancel: () => undefined, done }
      },
    })
    return { id, end }
  }

  many(count: number): readonly Work[] {
    return Array.from({ length: count }, () => this.start('detached'))
  }

  async settle(works: readonly Work[], outcome: JobOutcome = { status: 'completed', outcome: 'exit code: 0' }): Promise<void> {
    const waits = works.map(({ id }) => this.jobs.wait(id, 60_000, this.session))
    for (const { end } of works) end(outcome)
    await Promise.all(waits)
  }

  async clear(works: readonly Work[]): Promise<void> {
    await this.settle(works)
    for (const { id } of works) this.jobs.remove(id, this.session)
  }

  /** A foreground call from its start to its end. */
  async call(): Promise<void> {
    const { id, end } = this.start('foreground')
    const waiting = this.jobs.wait(id, 60_000, this.session)
    end({ status: 'completed', outcome: 'exit code: 0' })
    await waiting
    this.jobs.remove(id, this.session)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kernel.close()
  }
}

/** A channel in which nothing ever happens, and that many jobs share. */
const silent: ChannelReader = {
  size: () => 0,
  earliest: () => 0,
  finished: false,
  spillPath: undefined,
  readFrom: (offset) => ({ text: '', startOffset: offset, nextOffset: offset, lossy: false }),
  changed: () => new Promise(() => undefined),
}

/** A channel that grows by a line when it is told to. */
export class Growing implements ChannelReader {
  readonly finished = false
  readonly spillPath = undefined
  #text = ''
  #tell: () => void = () => undefined

  size(): number {
    return this.#text.length
  }

  earliest(): number {
    return 0
  }

  readFrom(offset: number, maxBytes = this.#text.length): ReturnType<ChannelReader['readFrom']> {
    const text = this.#text.slice(offset, offset + maxBytes)
    return { text, startOffset: offset, nextOffset: offset + text.length, lossy: false }
  }

  changed(afterOffset: number): Promise<boolean> {
    if (this.#text.length > afterOffset) return Promise.resolve(true)
    return new Promise((resolve) => {
      this.#tell = () => resolve(true)
    })
  }

  grow(): void {
    this.#text += 'one more line\n'
    this.#tell()
  }
}
