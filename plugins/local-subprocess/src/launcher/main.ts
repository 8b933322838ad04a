import { openSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { type DescriptorLimit, restoring } from '../launch/descriptor-limit.ts'
import { encodeFrame, FrameReader } from '../launch/frames.ts'
import { type Commission, type Greeting, type HostMessage, hostMessage, type LauncherMessage, PROTOCOL_VERSION } from '../launch/messages.ts'
import { StartLedger } from '../launch/start-ledger.ts'
import { runProgram } from '../run-program.ts'
import { Children } from './children.ts'
import { closeInherited } from './inherited-descriptors.ts'

/*
 * The launcher: one process beside the host, that starts the host's commands and ends them when the host is gone without a word. Made of
 * Node's own modules only. It takes no decision of its own but that one.
 */

const FAULT_CHARACTERS = 200
const STACK_CHARACTERS = 4_000

const HEARD_BYTES = 65_536

/** A host that reads nothing is not told. */
const LAST_WORD_MS = 1_000

/** Sockets go first when a process dies, its children learn of it last. */
const DEATH_LOOKS = 50
const DEATH_LOOK_MS = 20

/** Somebody who is just ending may still write into it. */
const REMOVALS = 5

// A signal to whatever group or tree it is taken for is no reason to leave, nor for Node to open its debugger: it goes with its host.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined)

closeInherited()

const commission = JSON.parse(await text(process.stdin)) as Commission
if (commission.version !== PROTOCOL_VERSION) process.exit(1)
const limitFault = await restore(commission.descriptorLimit)

/** Past the streams of Node: what the host says goes straight from here to whoever puts the frames together. */
const heard = Buffer.allocUnsafeSlow(HEARD_BYTES)
const onread = { buffer: heard, callback: (bytes: number): boolean => take(Buffer.from(heard.subarray(0, bytes))) }
const socket = connect({ path: commission.socket, onread })
const directories = new Set(commission.directories)
let isIn = false
let isDismissed = false

function say(message: LauncherMessage | Greeting): void {
  const frame = encodeFrame(message)
  if (frame !== undefined && !socket.destroyed) socket.write(frame)
}

/** What nobody has foreseen ends it, and the host's log says why. */
process.on('uncaughtException', ({ stack, message }) => {
  say({ type: 'crashed', stack: (stack ?? message).slice(0, STACK_CHARACTERS) })
  const leave = (): void => process.exit(1)
  socket.end(leave)
  void setTimeout(LAST_WORD_MS).then(leave)
})

const children = new Children(commission, openLedger(commission.ledger), say)
const reader = new FrameReader()

function hear(message: HostMessage): void {
  if (message.type === 'spawn') children.spawn(message)
  else if (message.type === 'revoke') children.revoke(message.id)
  else if (message.type === 'directory') directories.add(message.path)
  else if (message.type === 'ping') say({ type: 'pong' })
  else {
    isDismissed = true
    socket.end()
  }
}

/** A cleaner may have taken it already, with all of the directory: then nothing is written down. */
function openLedger(name: string): Pick<StartLedger, 'write'> {
  try {
    return new StartLedger(openSync(name, 'r+'))
  } catch {
    return { write: () => undefined }
  }
}

/** Gives back that there is to be more. */
function take(chunk: Buffer): true {
  isIn = true
  for (const message of reader.push(chunk).map(hostMessage)) hear(message)
  children.flush()
  return true
}

socket.on('connect', () =>
  say({ type: 'hello', version: PROTOCOL_VERSION, token: commission.token, ...(limitFault !== undefined && { limitFault }) }),
)
socket.on('error', () => undefined)
socket.once('close', () => {
  if (isDismissed) process.exit(0)
  void (isIn ? outlive() : beTurnedAway())
})

/** A host that lives has no use for it, or no descriptor left to let it in; one that was just dying is seen to be gone a little later. */
async function beTurnedAway(): Promise<void> {
  for (let looks = 0; looks < DEATH_LOOKS && process.ppid === commission.host; looks++) await setTimeout(DEATH_LOOK_MS)
  if (process.ppid === commission.host) process.exit(1)
  await outlive()
}

/** The host is gone: nothing of it stays. */
async function outlive(): Promise<void> {
  await children.end()
  for (const path of directories) remove(path)
  process.exit(0)
}

/** What stays is swept at the next start of a host. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: REMOVALS })
  } catch {
    // Read-only by now, or of one that could not be ended.
  }
}

/** Gives back what went wrong, in few words. */
async function restore(limit: DescriptorLimit | undefined): Promise<string | undefined> {
  if (limit === undefined) return undefined
  try {
    await runProgram(...restoring(process.pid, limit))
    return undefined
  } catch (error) {
    return String(error).slice(0, FAULT_CHARACTERS)
  }
}
