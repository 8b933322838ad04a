import type { ChildProcess } from 'node:child_process'
import { renameSync, unlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import { encodeFrame, type FrameReader } from './frames.ts'
import type { LaunchEvents, Launched, LaunchPlan, LaunchTerms, StartedProcess } from './launch-plan.ts'
import { type HostMessage, type LauncherMessage, launcherMessage, toError } from './messages.ts'
import { exitOf } from './process-exit.ts'
import type { StartLedger } from './start-ledger.ts'
import type { Welcomed } from './welcome.ts'

/** A launcher that owes an answer counts as hung after so many steps without a word. */
const PATIENCE_STEP_MS = 1_000
const PATIENCE_STEPS = 5

/** A launch that a launcher which is gone had not begun. */
export interface Unbegun {
  readonly plan: LaunchPlan
  readonly terms: LaunchTerms
  readonly events: LaunchEvents
}

interface Request {
  readonly id: number
  readonly events: LaunchEvents
  /** Until the program runs it may have to be called off, or launched again. Nothing of it is kept beyond that: a plan may be large. */
  pending: { readonly plan: LaunchPlan; readonly terms: LaunchTerms; readonly claim: string | undefined } | undefined
}

/**
 * One launcher process, from its greeting to its end. Who may begin a launch is decided by one step in the file system: the launcher
 * removes the name of the plan's first FIFO before it starts the program, the host does to call that off, and only one of the two can
 * succeed. So a launch that is not wanted any more never begins, even if the launcher is stopped and goes on an hour later.
 */
export class LauncherConnection {
  readonly #socket: Socket
  readonly #process: ChildProcess
  readonly #ledger: StartLedger
  readonly #clock: Clock
  readonly #ended: (unbegun: readonly Unbegun[], why: string | undefined) => void
  readonly #requests = new Map<number, Request>()
  /** Unclaimed FIFO names are there on Linux only. */
  readonly #claims: boolean
  #counter = 0
  /** Answers to come: one to each ping, and one to each spawn, called off or not. */
  #owed = 0
  #silentSteps = 0
  #patience: Timer | undefined
  #closing = false
  /** Why it was given up, if it was. */
  #why: string | undefined

  /** @param ended called once, when the launcher is gone although nobody asked it to go */
  constructor(
    { socket, reader, process, ledger }: Welcomed,
    parts: { clock: Clock; claims: boolean },
    ended: (unbegun: readonly Unbegun[], why: string | undefined) => void,
  ) {
    this.#socket = socket
    this.#process = process
    this.#ledger = ledger
    this.#clock = parts.clock
    this.#claims = parts.claims
    this.#ended = ended
    socket.unref()
    socket.on('data', (chunk: Buffer) => this.#read(reader, chunk))
    // `close` follows.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#lost()
      ledger.close()
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  launch(plan: LaunchPlan, terms: LaunchTerms, events: LaunchEvents): Launched {
    const id = this.#counter++
    try {
      const claim = this.#claims ? claimOf(plan) : undefined
      this.#send({ type: 'spawn', id, plan, ...terms, ...(claim !== undefined && { claim }) })
      const request: Request = { id, events, pending: { plan, terms, claim } }
      this.#requests.set(id, request)
      this.#owe()
      this.#hold(true)
      return { state: 'starting', revoke: () => this.#revoke(request) }
    } catch (cause) {
      // Never before `launch` returned.
      process.nextTick(() => events.failed(cause))
      return { state: 'failed' }
    }
  }

  /** Somebody waits for what only the launcher can tell: if it hangs, that is to be found out. */
  ping(): void {
    if (this.#owed > 0 || this.#closing) return
    this.#owe()
    this.#send({ type: 'ping' })
  }

  directoryMade(path: string): void {
    this.#send({ type: 'directory', path })
  }

  /** The host has ended everything itself. Resolves when the process is gone. */
  async dismiss(withinMs: number): Promise<void> {
    this.#closing = true
    this.#patience?.cancel()
    this.#send({ type: 'bye' })
    this.#socket.end()
    await exitOf(this.#process, this.#clock, withinMs)
    this.#socket.destroy()
  }

  /** Without a word, as if the host were gone: the launcher ends what there is. One that hangs is found out and killed. */
  leave(): void {
    this.ping()
    this.#closing = true
    this.#socket.unref()
    this.#socket.end()
  }

  #read(reader: FrameReader, chunk: Buffer): void {
    try {
      this.#silentSteps = 0
      for (const message of reader.push(chunk)) this.#take(launcherMessage(message))
    } catch (error) {
      this.#giveUp(String(error))
      this.#socket.destroy()
    }
  }

  #take(message: LauncherMessage): void {
    if (message.type === 'crashed') {
      this.#why ??= message.stack
      return
    }
    if (message.type !== 'fault' && (message.type !== 'exited' || message.started !== undefined)) this.#paid()
    if (message.type === 'pong') return
    const request = this.#requests.get(message.id)
    // One that was called off here is answered all the same.
    if (request === undefined) return
    const { events } = request
    if (message.type === 'started') {
      begun(request, message)
    } else if (message.type === 'fault') {
      events.fault(toError(message.error))
    } else {
      this.#forget(request)
      if (message.type === 'failed') events.failed(toError(message.error))
      else if (message.type === 'revoked') events.revoked()
      else {
        if (message.started !== undefined) begun(request, message.started)
        events.exited({ exitCode: message.exitCode, signal: message.signal })
      }
    }
  }

  #revoke(request: Request): void {
    const { id, pending, events } = request
    if (!this.#requests.has(id) || pending === undefined) return
    const { claim } = pending
    if (claim !== undefined && succeeds(() => unlinkSync(claim))) {
      this.#forget(request)
      process.nextTick(() => events.revoked())
    }
    this.#send({ type: 'revoke', id })
  }

  #forget(request: Request): void {
    this.#requests.delete(request.id)
    if (this.#requests.size === 0) this.#hold(false)
  }

  /** Whether this keeps the host alive. A socket that is destroyed but not closed yet would wait with it for its connection, listener by listener. */
  #hold(held: boolean): void {
    if (this.#socket.destroyed) return
    if (held) this.#socket.ref()
    else this.#socket.unref()
  }

  /** Whoever is stopped says nothing, and a host that was stopped itself has heard nothing: steps count while the loop turns, not seconds. */
  #owe(): void {
    if (this.#owed++ > 0) return
    this.#silentSteps = 0
    this.#step()
  }

  #paid(): void {
    if (--this.#owed > 0) return
    this.#patience?.cancel()
    this.#patience = undefined
  }

  #step(): void {
    this.#patience = this.#clock.after(PATIENCE_STEP_MS, () => {
      if (++this.#silentSteps >= PATIENCE_STEPS) this.#giveUp(`it did not answer for ${PATIENCE_STEPS} s`)
      else this.#step()
    })
    this.#patience.hold(false)
  }

  /** Before it sees the connection end, which it would take for the end of the host. */
  #giveUp(why: string): void {
    this.#why ??= why
    this.#process.kill('SIGKILL')
  }

  #lost(): void {
    this.#patience?.cancel()
    if (this.#closing) return
    this.#closing = true
    // Should it be alive: nothing it does from now on would be heard of.
    this.#process.kill('SIGKILL')
    const requests = [...this.#requests.values()]
    this.#requests.clear()
    const unbegun: Unbegun[] = []
    const lost: Request[] = []
    for (const request of requests) {
      const { pending, events } = request
      const plan = pending && withdrawn(pending.plan, pending.claim)
      if (pending !== undefined && plan !== undefined) unbegun.push({ plan, terms: pending.terms, events })
      else lost.push(request)
    }
    this.#ended(unbegun, this.#why)
    for (const request of lost) {
      const started = request.pending && this.#ledger.read(request.id)
      if (started !== undefined) begun(request, started)
      request.events.lost()
    }
  }

  #send(message: HostMessage): void {
    const frame = encodeFrame(message)
    if (frame === undefined) throw Object.assign(new Error('spawn E2BIG'), { code: 'E2BIG', errno: -7, syscall: 'spawn' })
    if (!this.#socket.destroyed) this.#socket.write(frame)
  }
}

function begun(request: Request, { pid, start }: StartedProcess): void {
  request.pending = undefined
  request.events.started({ pid, ...(start !== undefined && { start }) })
}

function claimOf({ stdout, stderr }: LaunchPlan): string | undefined {
  if (stdout.kind === 'fifo') return stdout.path
  return stderr.kind === 'fifo' ? stderr.path : undefined
}

/** The plan with a name that only the host knows; undefined when the launcher had begun. */
function withdrawn(plan: LaunchPlan, claim: string | undefined): LaunchPlan | undefined {
  const path = `${claim}.again`
  if (claim === undefined || !succeeds(() => renameSync(claim, path))) return undefined
  const end = { kind: 'fifo', path } as const
  return plan.stdout.kind === 'fifo' ? { ...plan, stdout: end } : { ...plan, stderr: end }
}

function succeeds(step: () => void): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}
