import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compositions } from '@tenon/catalog'
import { Jobs } from '@tenon/jobs'
import { openRuntime } from '@tenon/runtime'
import { openSession } from '@tenon/session'
import { Tools } from '@tenon/tools'
import { Feed } from './feed.js'

/**
 * The default composition with all it may hold when it is changed: a background job, a host that follows it, a model that reads it, a call that
 * waits, a notice that is queued, and a job whose end is to be told of. All of it ends when it is told to: nothing here waits for a time.
 */
export class LiveWork {
  #folder
  #session
  #ids = {}
  #notices = []
  #faults = []
  #calling
  #following
  #read = ''

  static async open() {
    const work = new LiveWork()
    await work.#open()
    return work
  }

  async #open() {
    this.runtime = await openRuntime({ catalog: compositions.default })
    const { kernel } = this.runtime
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'fault') this.#faults.push(`${event.what} of row ${event.row}: ${event.error.message}`)
    })
    this.#folder = await realpath(await mkdtemp(join(tmpdir(), 'tenon-reload-')))
    let heard
    const first = new Promise((resolve) => {
      heard = resolve
    })
    const deliver = ({ text }) => {
      this.#notices.push(text)
      heard()
      return 'queued'
    }
    this.#session = openSession(kernel.scope, { id: 'test', cwd: this.#folder, deliver })
    for (const feed of ['job', 'call', 'due']) Object.assign(this, { [feed]: new Feed(join(this.#folder, feed)) })
    this.#ids.queued = await this.#background('echo over')
    await first
    this.#ids.job = await this.#background(this.job.command(3))
    this.#ids.due = await this.#background(this.due.command(0))
    this.#calling = this.#bash({ command: this.call.command(5), timeoutMs: 600_000 })
    this.#following = this.#follow()
    for (const feed of [this.job, this.call, this.due]) await feed.begin()
    await this.#readOn()
  }

  /** The commands write one line more. */
  async write() {
    await Promise.all([this.job.count(), this.call.count()])
  }

  async end() {
    await Promise.all([this.job.end(), this.call.end(), this.due.end()])
  }

  /** What became of the call, the follower and the reader, once all of it has ended. */
  async outcome() {
    const result = await this.#calling
    const followed = await this.#following
    await this.#jobs.wait(this.#ids.due, 600_000, 'host').catch(onlyUnknown)
    await this.#told()
    await this.#readOn()
    const { exitCode, signal, stopped, stdout } = result.isError ? {} : result.value
    return {
      call: result.isError ? result.code : { exitCode, signal, stopped, text: this.call.judge(stdout.text) },
      follower: { outcome: followed.job?.detail.outcome, text: this.job.judge(followed.text) },
      reader: this.job.judge(this.#read),
    }
  }

  /** What a new command says. */
  async again() {
    const { isError, value, message } = await this.#bash({ command: 'echo again' })
    return isError ? message : value.stdout.text
  }

  /** Closes it, and gives how often the session was told of which job, and the faults of rows. */
  async close() {
    await this.#told()
    await this.runtime.close()
    for (const feed of [this.job, this.call, this.due]) feed.remove()
    await rm(this.#folder, { recursive: true })
    const told = (id) => this.#notices.filter((text) => new RegExp(`\\b${id}\\b`).test(text)).length
    return { notices: Object.fromEntries(Object.entries(this.#ids).map(([name, id]) => [name, told(id)])), faults: this.#faults }
  }

  get #jobs() {
    return this.runtime.get(Jobs)
  }

  #execute(name, args) {
    return this.runtime.get(Tools).execute({ name, arguments: args, session: this.#session, signal: this.#session.scope.signal })
  }

  #bash(args) {
    return this.#execute('bash', { description: 'work', ...args })
  }

  async #background(command) {
    const { value, message } = await this.#bash({ command, run_in_background: true })
    if (value === undefined) throw new Error(message)
    return value.jobId
  }

  async #follow() {
    let text = ''
    for await (const item of this.#jobs.follow(this.#ids.job, { caller: 'host' })) {
      if (item.type === 'output') text += item.chunks.map((chunk) => chunk.text).join('')
      if (item.type === 'end') return { text, job: item.job }
    }
    return { text }
  }

  /** Resolves when nobody has to be told of anything: what is read before is not told of. */
  async #told() {
    while (this.#jobs.dueNotices().length > 0) await new Promise((resolve) => setImmediate(resolve))
  }

  /** As the model reads: what it was given is not given again. */
  async #readOn() {
    try {
      for (let unread = 1; unread > 0; ) {
        const read = this.#jobs.read(this.#ids.job, this.#session)
        this.#read += read.chunks.map(({ text }) => text).join('')
        unread = read.unread
      }
    } catch (error) {
      onlyUnknown(error)
    }
  }
}

/** A job that ended with its registry. */
function onlyUnknown(error) {
  if (error.code !== 'JOB_UNKNOWN') throw error
}
