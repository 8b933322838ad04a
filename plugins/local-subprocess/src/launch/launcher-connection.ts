import type { ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, renameSync, unlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import { encodeFrame, type FrameReader } from './frames.ts'
import type { LaunchEvents, Launched, LaunchPlan, LaunchTerms } from './launch-plan.ts'
import { type HostMessage, type LauncherMessage, launcherMessage, toError } from './messages.ts'

/** Starts the launcher process in the given directory. @throws what spawn throws */
export type StartLauncher = (cwd: string) => ChildProcess

/** A launcher that owes an answer is asked every so often, and counts as hung after so many times without a word. */
const PATIENCE_STEP_MS = 1_000
const PATIENCE_STEPS = 5

/** A launch that a launcher which is gone had not begun. */
export interface Unbegun {
  readonly plan: LaunchPlan
  readonly terms: LaunchTerms
  readonly events: LaunchEvents
  /** Hands over what the caller's `revoke` does from now on. */
  redirect(revoke: () => void): void
}

interface Request extends Unbegun {
  readonly id: number
  readonly claim: string | undefined
  /** The host's own write ends of the FIFOs: a reader without any writer would see the end of the stream. */
  readonly writeEnds: number[]
  running: boolean
}

/**
 * One launcher process, from its greeting to its end. Who may begin a launch is decided by one rename in the file system: the launcher
 * renames the first FIFO of the plan before it starts the program, the host to call that off, and only one of the two can succeed. So a
 * launch that is not wanted any more never begins, even if the launcher is stopped and goes on an hour later.
 */
export class LauncherConnection {
  readonly #socket: Socket
  readonly #process: ChildProcess
  readonly #clock: Clock
  readonly #ended: (unbegun: readonly Unbegun[]) => void
  readonly #requests = new Map<number, Request>()
  /** Unclaimed FIFO names are there on Linux only. */
  readonly #claims: boolean
  #counter = 0
  #owed = 0
  #silentSteps = 0
  #patience: Timer | undefined
  #closing = false

  /** @param ended called once, when the launcher is gone although nobody asked it to go */
  constructor(
    socket: Socket,
    reader: FrameReader,
    process: ChildProcess,
    parts: { clock: Clock; claims: boolean },
    ended: (unbegun: readonly Unbegun[]) => void,
  ) {
    this.#socket = socket
    this.#process = process
    this.#clock = parts.clock
    this.#claims = parts.claims
    this.#ended = ended
    socket.unref()
    socket.on('data', (chunk: Buffer) => this.#read(reader, chunk))
    // `close` follows.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#lost())
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  launch(plan: LaunchPlan, terms: LaunchTerms, events: LaunchEvents): Launched {
    const id = this.#counter++
    const writeEnds: number[] = []
    try {
      for (const end of [plan.stdout, plan.stderr])
        if (end.kind === 'fifo') writeEnds.push(openSync(end.path, constants.O_WRONLY | constants.O_NONBLOCK))
      const claim = this.#claims ? claimOf(plan) : undefined
      this.#send({ type: 'spawn', id, plan, ...terms, ...(claim !== undefined && { claim }) })
      let revoke = (): void => this.#revoke(request)
      const redirect = (other: () => void): void => {
        revoke = other
      }
      const request: Request = { id, plan, terms, events, claim, writeEnds, running: false, redirect }
      this.#requests.set(id, request)
      this.#owe()
      this.#socket.ref()
      return { state: 'starting', revoke: () => revoke() }
    } catch (cause) {
      for (const descriptor of writeEnds) closeSync(descriptor)
      // Never before `launch` returned.
      process.nextTick(() => events.failed(cause))
      return { state: 'failed' }
    }
  }

  /** Makes sure that a launcher that does not answer is found out. */
  ping(): void {
    if (this.#owed === 0) this.#ask()
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

  #read(reader: FrameReader, chunk: Buffer): void {
    try {
      this.#silentSteps = 0
      for (const message of reader.push(chunk)) this.#take(launcherMessage(message))
    } catch (error) {
      this.#socket.destroy(error as Error)
    }
  }

  #take(message: LauncherMessage): void {
    if (message.type === 'pong') {
      this.#paid()
      return
    }
    const request = this.#requests.get(message.id)
    // One that was called off here is answered all the same.
    if (request === undefined) return
    const { events } = request
    if (message.type === 'started') {
      request.running = true
      this.#begun(request)
      events.started({ pid: message.pid, ...(message.start !== undefined && { start: message.start }) })
    } else if (message.type === 'fault') {
      events.fault(toError(message.error))
    } else {
      this.#forget(request)
      if (message.type === 'failed') events.failed(toError(message.error))
      else if (message.type === 'revoked') events.revoked()
      else events.exited({ exitCode: message.exitCode, signal: message.signal })
    }
  }

  #revoke(request: Request): void {
    if (!this.#requests.has(request.id) || request.running) return
    if (request.claim !== undefined && moved(request.claim, `${request.claim}.revoked`)) {
      unlinkSync(`${request.claim}.revoked`)
      this.#forget(request)
      process.nextTick(() => request.events.revoked())
    }
    this.#send({ type: 'revoke', id: request.id })
  }

  #begun(request: Request): void {
    for (const descriptor of request.writeEnds.splice(0)) closeSync(descriptor)
    this.#paid()
  }

  #forget(request: Request): void {
    if (!request.running) this.#begun(request)
    this.#requests.delete(request.id)
    if (this.#requests.size === 0) this.#socket.unref()
  }

  /** Whoever is stopped says nothing, and a host that was stopped itself has heard nothing: steps count while the loop turns, not seconds. */
  #owe(): void {
    if (this.#owed++ > 0 || this.#closing) return
    this.#silentSteps = 0
    this.#patience = this.#clock.after(PATIENCE_STEP_MS, () => this.#lookForAnswer())
    this.#patience.hold(false)
  }

  #paid(): void {
    if (--this.#owed > 0) return
    this.#patience?.cancel()
    this.#patience = undefined
  }

  #ask(): void {
    this.#owe()
    this.#send({ type: 'ping' })
  }

  #lookForAnswer(): void {
    if (++this.#silentSteps >= PATIENCE_STEPS) {
      this.#process.kill('SIGKILL')
      return
    }
    this.#patience = this.#clock.after(PATIENCE_STEP_MS, () => this.#lookForAnswer())
    this.#patience.hold(false)
  }

  #lost(): void {
    this.#patience?.cancel()
    if (this.#closing) return
    this.#closing = true
    // A connection that broke with its launcher alive: nothing it does from now on would be heard of.
    this.#process.kill('SIGKILL')
    const unbegun: Unbegun[] = []
    const lost: Request[] = []
    for (const request of this.#requests.values()) {
      const plan = request.running ? undefined : withdrawn(request)
      if (plan === undefined) lost.push(request)
      else unbegun.push({ ...request, plan })
    }
    const requests = [...this.#requests.values()]
    this.#requests.clear()
    this.#ended(unbegun)
    // Only now, since whoever launches in this one's place holds the ends from here on.
    for (const { writeEnds } of requests) for (const descriptor of writeEnds.splice(0)) closeSync(descriptor)
    for (const { events } of lost) events.lost()
  }

  #send(message: HostMessage): void {
    const frame = encodeFrame(message)
    if (frame === undefined) throw Object.assign(new Error('spawn E2BIG'), { code: 'E2BIG', errno: -7, syscall: 'spawn' })
    if (!this.#socket.destroyed) this.#socket.write(frame)
  }
}

function claimOf({ stdout, stderr }: LaunchPlan): string | undefined {
  if (stdout.kind === 'fifo') return stdout.path
  return stderr.kind === 'fifo' ? stderr.path : undefined
}

/** The plan with the names that only the host knows; undefined when the launcher had begun. */
function withdrawn({ plan, claim }: Request): LaunchPlan | undefined {
  if (claim === undefined || !moved(claim, `${claim}.again`)) return undefined
  const path = `${claim}.again`
  return plan.stdout.kind === 'fifo' ? { ...plan, stdout: { kind: 'fifo', path } } : { ...plan, stderr: { kind: 'fifo', path } }
}

function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}

async function exitOf(process: ChildProcess, clock: Clock, withinMs: number): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  process.ref()
  await new Promise<void>((resolve) => {
    const enough = clock.after(withinMs, () => process.kill('SIGKILL'))
    process.once('exit', () => {
      enough.cancel()
      resolve()
    })
  })
}
