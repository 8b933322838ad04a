import type { DescriptorLimit } from './descriptor-limit.ts'
import type { LaunchPlan, LaunchTerms, StartedProcess } from './launch-plan.ts'

/** Both sides are of the same version, or do not speak: a package may be replaced on disk under a running host. */
export const PROTOCOL_VERSION = 3

/** What the launcher is given on its standard input, as JSON: none of it may be seen in a list of processes. */
export interface Commission {
  readonly version: number
  /** The host's pid. */
  readonly host: number
  /** Name of the host's socket in the directory it is started in. */
  readonly socket: string
  /** Name of the file for its starts, in the same directory. */
  readonly ledger: string
  /** Shown by the launcher when it connects: 128 random bits. */
  readonly token: string
  /** Begins the cookie of every process of the runtime. */
  readonly nonce: string
  /** The variable that holds the cookie. */
  readonly cookieVariable: string
  /** Milliseconds after the forced signal until a process counts as not to be ended. */
  readonly killWaitMs: number
  /** Removed when the host is gone. */
  readonly directories: readonly string[]
  /** What the launcher takes for itself before it greets, so that its children inherit it. */
  readonly descriptorLimit?: DescriptorLimit
}

export interface SpawnMessage extends LaunchTerms {
  readonly type: 'spawn'
  readonly id: number
  readonly plan: LaunchPlan
  /** A FIFO of the plan. Whoever takes its name first decides: the launcher that the launch begins, the host that it does not. */
  readonly claim?: string
}

/** `id` is unique in a connection. Each spawn is answered by `started` and later `exited`, by an `exited` that tells both, by `failed`, or by `revoked`. */
export type HostMessage =
  | SpawnMessage
  /** The spawn is not wanted any more; without effect once it was begun. */
  | { readonly type: 'revoke'; readonly id: number }
  /** One that is to be removed too. The first thing a host says to a launcher that is in names those there are. */
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'ping' }
  /** The host has ended everything itself. */
  | { readonly type: 'bye' }

/** The first thing the launcher says. */
export interface Greeting {
  readonly type: 'hello'
  readonly version: number
  readonly token: string
  /** Why the limit of descriptors is not as the commission has it. */
  readonly limitFault?: string
}

export type LauncherMessage =
  | ({ readonly type: 'started'; readonly id: number } & StartedProcess)
  | { readonly type: 'failed'; readonly id: number; readonly error: PlatformError }
  | { readonly type: 'revoked'; readonly id: number }
  /** With `started` if that has not been told before. */
  | {
      readonly type: 'exited'
      readonly id: number
      readonly started?: StartedProcess
      readonly exitCode: number | null
      readonly signal: NodeJS.Signals | null
    }
  | { readonly type: 'fault'; readonly id: number; readonly error: PlatformError }
  | { readonly type: 'pong' }
  /** Its last word: it is ending, by a fault of its own. */
  | { readonly type: 'crashed'; readonly stack: string }

const HOST_TYPES: ReadonlySet<unknown> = new Set<HostMessage['type']>(['spawn', 'revoke', 'directory', 'ping', 'bye'])
const LAUNCHER_TYPES: ReadonlySet<unknown> = new Set<LauncherMessage['type']>(['started', 'failed', 'revoked', 'exited', 'fault', 'pong', 'crashed'])

/** @throws Error for anything else */
export function launcherMessage(said: unknown): LauncherMessage {
  if (LAUNCHER_TYPES.has((said as { type?: unknown } | null)?.type)) return said as LauncherMessage
  throw new Error('the launcher said something that is not of the protocol')
}

/** @throws Error for anything else */
export function hostMessage(said: unknown): HostMessage {
  if (HOST_TYPES.has((said as { type?: unknown } | null)?.type)) return said as HostMessage
  throw new Error('the host said something that is not of the protocol')
}

/** What the platform raised, as it can be told to another process. */
export interface PlatformError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly errno?: number
  readonly syscall?: string
  readonly path?: string
  readonly spawnargs?: readonly string[]
}

const FACTS = ['code', 'errno', 'syscall', 'path', 'spawnargs'] as const

export function toPlatformError(raised: unknown): PlatformError {
  if (!(raised instanceof Error)) return { name: 'Error', message: String(raised) }
  const facts = raised as Partial<PlatformError>
  const told = Object.fromEntries(FACTS.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])))
  return { name: raised.name, message: raised.message, ...told }
}

/** As the platform would have raised it here. */
export function toError({ name, message, ...facts }: PlatformError): Error {
  const error = Object.assign(new Error(message), facts)
  if (name !== error.name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}
