import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JobEvent, Jobs } from '@tenon/jobs'
import { type Capability, Kernel, type Plugin, type Row } from '@tenon/kernel'
import jobs from '@tenon/plugin-jobs'
import localBash from '@tenon/plugin-local-bash'
import localPwsh from '@tenon/plugin-local-pwsh'
import localSubprocess from '@tenon/plugin-local-subprocess'
import shellEnv from '@tenon/plugin-shell-env'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolBash from '@tenon/plugin-tool-bash'
import toolJobs from '@tenon/plugin-tool-jobs'
import toolPwsh from '@tenon/plugin-tool-pwsh'
import tools from '@tenon/plugin-tools'
import { type NoticeQueue, openSession, type Session } from '@tenon/session'
import { SystemPrompt } from '@tenon/system-prompt'
import { type LogLine, recordedLog } from '@tenon/testkit'
import { Tools } from '@tenon/tools'
import { STAND_IN } from '../../plugins/local-pwsh/test/played-script.ts'

type Config = Readonly<Record<string, unknown>>
/** By row: whether it is there, or its config. */
export type Rows = Readonly<Record<string, 'on' | 'off' | Config>>

/** In the order in which they are loaded. PowerShell is the stand-in of its executor's tests. */
const KNOWN: Readonly<Record<string, { readonly plugin: object; readonly config?: Config; readonly off?: true }>> = {
  'local-subprocess': { plugin: localSubprocess },
  'local-bash': { plugin: localBash },
  'local-pwsh': { plugin: localPwsh, config: { executable: STAND_IN }, off: true },
  'shell-env': { plugin: shellEnv },
  tools: { plugin: tools },
  'system-prompt': { plugin: systemPrompt },
  jobs: { plugin: jobs },
  'tool-jobs': { plugin: toolJobs },
  'tool-bash': { plugin: toolBash },
  'tool-pwsh': { plugin: toolPwsh, off: true },
}

/** The plugins as a host runs them, with a directory of their own and a first session, `one`. */
export class World implements AsyncDisposable {
  readonly directory: string
  /** What happened to jobs since somebody asked. */
  readonly events: Exclude<JobEvent, { readonly type: 'changed' }>[] = []
  /** What was announced of tools since somebody asked. */
  readonly changes: { readonly added: readonly string[]; readonly removed: readonly string[]; readonly replaced: readonly string[] }[] = []
  readonly log: LogLine[]
  readonly #kernel: Kernel
  readonly #rows: Rows
  readonly #sessions = new Map<string, Session & { readonly notices: NoticeQueue }>()

  readonly #faults: string[] = []

  constructor(kernel: Kernel, rows: Rows, log: LogLine[], directory: string) {
    this.#kernel = kernel
    this.#rows = rows
    this.log = log
    this.directory = directory
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'fault') this.#faults.push(`${event.what} of row ${event.row}: ${event.error.message}`)
    })
    this.tools.changed.on(kernel.scope, (change) => void this.changes.push(change))
    this.openSession('one')
  }

  get tools(): Tools {
    return this.#get(Tools)
  }

  get prompt(): SystemPrompt {
    return this.#get(SystemPrompt)
  }

  /** @throws Error while there is no registry */
  get jobs(): Jobs {
    return this.#get(Jobs)
  }

  get hasNotices(): boolean {
    return this.#kernel.row('tool-jobs')?.phase === 'active'
  }

  openSession(id: string): void {
    this.#sessions.set(id, openSession(this.#kernel.scope, { id, cwd: this.directory }))
  }

  session(id: string): Session & { readonly notices: NoticeQueue } {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new Error(`no session "${id}" was opened`)
    return session
  }

  async load(id: string): Promise<void> {
    this.#kernel.load(...loading(id, this.#rows[id]))
    await this.settled()
    if (id === 'jobs') this.listen()
  }

  async unload(id: string): Promise<void> {
    await this.#row(id).unload()
    await this.settled()
  }

  /** The same code again, as a reload of its files gives it. */
  async reload(id: string): Promise<void> {
    await this.#row(id).replace({ ...plugin(id) })
    await this.settled()
  }

  listen(): void {
    this.jobs.subscribe(this.#kernel.scope, 'all', (event) => {
      if (event.type !== 'changed') this.events.push(event)
    })
  }

  /** Fails if an undo failed, or if a process is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kernel.close()
    await rm(this.directory, { recursive: true, force: true })
    const left = process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap')
    if (this.#faults.length + left.length > 0) throw new Error(['left behind:', ...this.#faults, ...left].join('\n'))
  }

  settled(): Promise<void> {
    return this.#kernel.settled()
  }

  #row(id: string): Row {
    const row = this.#kernel.row(id)
    if (row === undefined) throw new Error(`there is no row "${id}"`)
    return row
  }

  #get<T>(token: Capability<T>): T {
    const value = this.#kernel.get(token)
    if (value === undefined) throw new Error(`nothing provides "${token.key}"`)
    return value
  }
}

export async function openWorld(rows: Rows): Promise<World> {
  const stranger = Object.keys(rows).find((id) => !(id in KNOWN))
  if (stranger !== undefined) throw new Error(`no row "${stranger}"; there are: ${Object.keys(KNOWN).join(', ')}`)
  const isThere = (id: string): boolean => (rows[id] ?? (KNOWN[id]?.off ? 'off' : 'on')) !== 'off'
  const { logger, lines } = recordedLog()
  const wanted = Object.keys(KNOWN).filter(isThere)
  // Nothing here is about how fast things end, and a machine may be busy.
  const kernel = new Kernel({ logger, budgets: { activationMs: 30_000, undoMs: 30_000 } })
  const loaded = wanted.map((id) => kernel.load(...loading(id, rows[id])))
  await Promise.all(loaded.map((row) => row.ready()))
  await kernel.settled()
  const world = new World(kernel, rows, lines, await realpath(await mkdtemp(join(tmpdir(), 'tenon-transcript-'))))
  if (isThere('jobs')) world.listen()
  return world
}

function plugin(id: string): Plugin {
  return KNOWN[id]?.plugin as Plugin
}

function loading(id: string, wanted: Rows[string] | undefined): [plugin: Plugin, config: Config] {
  return [plugin(id), { ...KNOWN[id]?.config, ...(typeof wanted === 'object' ? wanted : {}) }]
}
