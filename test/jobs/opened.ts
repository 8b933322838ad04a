import { type JobSpec, Jobs } from '@tenon/jobs'
import { Producer } from '@tenon/jobs/conformance'
import { Kernel } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolJobs from '@tenon/plugin-tool-jobs'
import toolsPlugin from '@tenon/plugin-tools'
import { type Notice, openSession, type Session } from '@tenon/session'
import { SystemPrompt } from '@tenon/system-prompt'
import { type LogLine, recordedLog } from '@tenon/testkit'
import { type ToolResult, Tools } from '@tenon/tools'

export interface Delivered {
  readonly to: Session
  readonly notice: Notice
}

/** The registry with the model's tools, and sessions that note what they are told. */
export class Opened implements AsyncDisposable {
  readonly kernel: Kernel
  readonly log: readonly LogLine[]
  readonly delivered: Delivered[] = []
  session: Session

  constructor(kernel: Kernel, log: readonly LogLine[]) {
    this.kernel = kernel
    this.log = log
    this.session = this.open('one')
  }

  get jobs(): Jobs {
    return this.kernel.get(Jobs) as Jobs
  }

  get tools(): Tools {
    return this.kernel.get(Tools) as Tools
  }

  get prompt(): SystemPrompt {
    return this.kernel.get(SystemPrompt) as SystemPrompt
  }

  /** What the sessions were told, message by message. */
  get messages(): readonly string[] {
    return this.delivered.map(({ notice }) => notice.text)
  }

  get complaints(): readonly string[] {
    return this.log.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message)
  }

  open(id: string): Session {
    const session: Session = openSession(this.kernel.scope, {
      id,
      cwd: '/',
      deliver: (notice) => {
        this.delivered.push({ to: session, notice })
        return 'queued'
      },
    })
    return session
  }

  start(change: Partial<JobSpec> & { readonly keep?: number; readonly attached?: boolean } = {}): Producer {
    const { keep, ...spec } = change
    const producer = new Producer(keep)
    this.jobs.start(producer.spec(change.owner ?? this.session, { kind: 'bash', label: 'make', ...spec }))
    return producer
  }

  call(name: string, args: object = {}, signal = new AbortController().signal, session = this.session): Promise<ToolResult> {
    return this.tools.execute({ name, arguments: args, session, signal })
  }

  /** What the model is shown. */
  async shown(name: string, args: object = {}): Promise<string> {
    return textOf(await this.call(name, args))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel.close()
  }
}

export function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('')
}

/** Live jobs end with their stop budget, so that closing does not wait for producers that a test has left. */
export async function openJobs(config: { jobs?: object; toolJobs?: object } = {}): Promise<Opened> {
  const { logger, lines } = recordedLog()
  const kernel = new Kernel({ logger })
  kernel.load(toolsPlugin)
  kernel.load(systemPrompt)
  kernel.load(jobsPlugin, { stopBudgetMs: 20, ...config.jobs })
  const row = kernel.load(toolJobs, config.toolJobs)
  await row.ready()
  return new Opened(kernel, lines)
}

/** Promises, immediates and what they started have run. */
export async function drained(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
}
