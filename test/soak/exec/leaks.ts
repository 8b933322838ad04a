import { getEventListeners } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import type { World } from './world.ts'

/** Where to look. */
export type Place = Pick<World, 'folder' | 'session' | 'launcher'>

/** What there is of everything that can leak, other than memory. */
export interface Holdings {
  /** Lines of `what: count`; counts above those of an earlier look are leaks. */
  readonly counts: ReadonlyMap<string, number>
}

/** Longer than survivors live and endings take. */
const QUIET_WITHIN_MS = 20_000

export function holdings(world: Place, nonce: string | undefined): Holdings {
  const counts = new Map<string, number>()
  const count = (what: string, by = 1): void => void counts.set(what, (counts.get(what) ?? 0) + by)
  for (const pid of processesOf(nonce)) count(`process ${pid}`)
  for (const descriptor of readdirSync('/proc/self/fd')) count(`descriptor of ${targetOf(descriptor)}`)
  count('descriptor of the launcher', descriptorsOf(world.launcher))
  for (const file of files(world.folder)) count(`file ${file}`)
  for (const resource of process.getActiveResourcesInfo()) count(`resource ${resource}`)
  for (const event of process.eventNames()) count(`listener of process ${String(event)}`, process.listenerCount(event))
  count('listener of the session signal', getEventListeners(world.session.signal, 'abort').length)
  return { counts }
}

/** Waits until nothing is left beyond `before`, and tells what is when that takes too long. */
export async function leftBeyond(before: Holdings, world: Place, nonce: string | undefined, withinMs = QUIET_WITHIN_MS): Promise<string[]> {
  const until = performance.now() + withinMs
  for (;;) {
    const left: string[] = []
    for (const [what, count] of holdings(world, nonce).counts) {
      const surplus = count - (before.counts.get(what) ?? 0)
      if (surplus > 0) left.push(surplus === 1 ? what : `${surplus} × ${what}`)
    }
    if (left.length === 0) return []
    if (performance.now() >= until) return left
    await pause(50)
  }
}

/** Bytes in use after a full collection; without machine code, which the engine makes more of for as long as it likes. */
export async function memory(): Promise<{ heap: number; outside: number }> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('needs node --expose-gc')
  for (let pass = 0; pass < 4; pass++) {
    gc()
    // Finalizers run between.
    await pause(10)
  }
  const objects = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith('code'))
  return { heap: objects.reduce((bytes, { space_used_size }) => bytes + space_used_size, 0), outside: process.memoryUsage().external }
}

/** Of the runtime by its cookie, and all descendants; as `pid program`. */
function processesOf(nonce: string | undefined): string[] {
  const parents = new Map<number, number>()
  const marked = new Set<number>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = parentOf(pid)
    if (parent === undefined) continue
    parents.set(pid, parent)
    if (nonce !== undefined && read(`/proc/${pid}/environ`).includes(`${COOKIE_VARIABLE}=${nonce}.`)) marked.add(pid)
  }
  const isDescendant = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === process.pid || isDescendant(parent))
  }
  return [...parents.keys()]
    .filter((pid) => marked.has(pid) || isDescendant(pid))
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 80)}`)
}

/** Undefined for a process that is gone, or only waits for its parent to look. */
function parentOf(pid: number): number | undefined {
  // The name, in parentheses, may hold anything.
  const [state, parent] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
  return state === undefined || parent === undefined || (state === 'Z' && Number(parent) !== process.pid) ? undefined : Number(parent)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    // It is gone.
    return 0
  }
}

/** Without the numbers that differ from one to the next. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
      .replace(/:\[\d+\]$/, '')
      .replace(/^\/proc\/\d+\/.*/, '/proc')
  } catch {
    return 'the look itself'
  }
}

/** Everything below the folder but for FIFOs in stock, which are bounded by their number. */
function files(folder: string): string[] {
  const found: string[] = []
  let stocked = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFIFO()) stocked++
    else found.push(entry.isDirectory() ? 'directory' : entry.name)
  }
  // Two batches and what is in use.
  if (stocked > 200) found.push(`stock of ${stocked} FIFOs`)
  return found
}
