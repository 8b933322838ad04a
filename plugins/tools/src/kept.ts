import { AbortHub } from '@tenon/abort-hub'
import { Emitter, type KeepSpec } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { Approval, CallEvent, Middleware, Tools, ToolsChange, ToolView } from '@tenon/tools'
import type { Definition } from './definition.ts'
import type { SessionCalls } from './in-flight.ts'
import type { ConvertedSchemas } from './json-schema.ts'

/** One live registration; those of one name stack. */
export interface Registration {
  readonly definition: Definition
  /** The row it belongs to. */
  readonly owner: string
  /** What the catalogue shows of it: an equal older view, where there is one. */
  view: ToolView
}

export interface Policy {
  readonly middleware: Middleware
  readonly name: string
  readonly budgetMs: number | undefined
}

export type View = ReturnType<Tools['view']>

/** Who can be asked. */
export interface Approver {
  readonly approval: Approval
  /** False while the row or the provider is in transition: nobody is asked then. */
  present: boolean
  /** Aborted when the provider has left. */
  readonly gone: AbortController
}

/**
 * What outlives a reload of the row: the catalogue, who listens to it, and the calls in flight. Data only: each activation puts its own
 * code over it.
 */
export interface KeptTools {
  /** Newest last. */
  readonly stacks: Map<string, Registration[]>
  /** Replaced, never changed: a call pins the list by holding it. */
  policies: readonly Policy[]
  /** As of the last read; `stale` says that the stacks have changed since. */
  view: View
  index: ReadonlyMap<string, ToolView>
  stale: boolean
  /** The view that listeners know of. */
  announced: View
  lastEpoch: number
  lastCall: number
  approver: Approver | undefined
  readonly converted: ConvertedSchemas
  readonly changed: Emitter<ToolsChange>
  readonly calls: Emitter<CallEvent>
  /** Aborted when the row ends. */
  readonly ending: AbortController
  readonly aborts: AbortHub
  readonly inFlight: Set<Promise<unknown>>
  /** Of live sessions that have made a call. */
  readonly sessions: Map<Session, SessionCalls>
  /** Of the live activation: called when a registration came or went. */
  touched: () => void
}

export const keptTools: KeepSpec<KeptTools> = {
  key: 'tools',
  version: 2,
  create() {
    const view: View = Object.freeze({ epoch: 0, tools: Object.freeze([]) })
    const ending = new AbortController()
    const aborts = new AbortHub()
    // Every call follows it. To add and remove the hub's listener each time takes longer than to follow.
    aborts.on(ending.signal, () => undefined)
    return {
      stacks: new Map(),
      policies: [],
      view,
      index: new Map(),
      stale: false,
      announced: view,
      lastEpoch: 0,
      lastCall: 0,
      approver: undefined,
      converted: { input: new WeakMap(), output: new WeakMap() },
      changed: new Emitter<ToolsChange>(),
      calls: new Emitter<CallEvent>(),
      ending,
      aborts,
      inFlight: new Set(),
      sessions: new Map(),
      touched: () => undefined,
    }
  },
  async dispose(kept) {
    kept.ending.abort(new Error('the runtime is closing'))
    await settledWithin(kept.inFlight, CLOSING_MS)
    // The sessions live on without a trace of the registry. What is deaf has had its time: nobody waits for it twice.
    for (const { running } of kept.sessions.values()) running.clear()
    await Promise.all([...kept.sessions.values()].map(({ life }) => life.close()))
  },
}

/** Longest wait of a closing row or session for its calls, in milliseconds: under the kernel's budget for one undo. */
export const CLOSING_MS = 9_000

/** Resolves when all of them have settled, or the time is over. */
export async function settledWithin(running: ReadonlySet<Promise<unknown>>, ms: number): Promise<void> {
  if (running.size === 0) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([Promise.allSettled([...running]), over])
  clearTimeout(timer)
}
