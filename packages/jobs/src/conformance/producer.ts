import type { Session } from '@tenon/session'
import type { JobId, JobOutcome, JobSpec, OutputSource, StopReason } from '../index.ts'
import { Stream } from './stream.ts'

/** A job that does what a test says, when it says so. */
export class Producer {
  id: JobId = ''
  readonly cancels: StopReason[] = []
  readonly stdout: Stream
  readonly stderr: Stream
  attach: (output: OutputSource) => void = () => undefined
  /** Thrown by the next cancels. */
  refusal: unknown
  #settle: (outcome: JobOutcome) => void = () => undefined
  #fail: (error: unknown) => void = () => undefined
  readonly done = new Promise<JobOutcome>((resolve, reject) => {
    this.#settle = resolve
    this.#fail = reject
  })

  constructor(keep?: number) {
    this.stdout = new Stream(keep)
    this.stderr = new Stream(keep)
  }

  spec(owner: Session, change: Partial<JobSpec> & { readonly attached?: boolean } = {}): JobSpec {
    const { attached = true, ...rest } = change
    return {
      kind: 'test',
      label: 'a test',
      owner,
      attachment: 'detached',
      run: ({ id, attach }) => {
        this.id = id
        this.attach = attach
        if (attached) attach({ channels: { stdout: this.stdout, stderr: this.stderr } })
        return {
          cancel: (reason) => {
            this.cancels.push(reason)
            if (this.refusal !== undefined) throw this.refusal
          },
          done: this.done,
        }
      },
      ...rest,
    }
  }

  /** Resolves when the registry knows. */
  async end(outcome: JobOutcome = { status: 'completed', outcome: 'exit code: 0' }): Promise<void> {
    this.#settle(outcome)
    await settled()
  }

  async fail(error: unknown): Promise<void> {
    this.#fail(error)
    await settled()
  }
}

/** Promises that are due have run. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
