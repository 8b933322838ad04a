import { posix, win32 } from 'node:path'
import { didYouMean } from '@tenon/kernel'
import { MAX_TIMEOUT_MS, ShellError, type ShellRequest, type ShellSpec } from '@tenon/shell'
import { COOKIE_VARIABLE, type EnvEntries, MANAGED_PREFIX, MAX_COLLECT_BYTES, MIN_COLLECT_BYTES } from '@tenon/subprocess'
import { envFault, isManaged, type LocalShellConfig, pairFault } from './config.ts'
import type { Confinement } from './confinement.ts'

/** What requests are measured by. */
export interface RequestRules {
  readonly platform: NodeJS.Platform
  readonly config: LocalShellConfig
  /** Where commands run that name no directory; undefined if there is no such place. */
  readonly cwd: string | undefined
  readonly confinement: Confinement | undefined
}

const MEMBERS = ['command', 'workdir', 'timeoutMs', 'onExpiry', 'signal', 'sandboxPolicy', 'stdoutMaxBytes', 'stdin', 'env', 'managedEnv']
const MODES = ['read-only', 'workspace-write', 'danger-full-access']

/** Specs that `resolveRequest` made, and by which rules: all of them is frozen, and needs no second look. A policy is somebody else's object. */
const vetted = new WeakMap<ShellSpec, RequestRules>()

/** The one place of defaults and caps; only what is absent gets one, so a null is refused. Pure. @throws ShellError SHELL_BAD_REQUEST, SHELL_BAD_COMMAND */
export function resolveRequest(request: ShellRequest, rules: RequestRules): ShellSpec {
  const { config, confinement } = rules
  members(request)
  const { command, workdir, timeoutMs, onExpiry, signal, sandboxPolicy, stdoutMaxBytes, stdin, env, managedEnv } = request
  if (timeoutMs !== undefined) integer('timeoutMs', timeoutMs, 1, Number.POSITIVE_INFINITY)
  const spec: ShellSpec = Object.freeze({
    command,
    workdir: workdir === undefined ? (rules.cwd ?? nowhere()) : workdir,
    timeoutMs: Math.min(timeoutMs === undefined ? config.timeoutMs : timeoutMs, config.maxTimeoutMs),
    onExpiry: onExpiry === undefined ? 'kill' : onExpiry,
    stdoutMaxBytes: stdoutMaxBytes === undefined ? config.maxOutputBytes : stdoutMaxBytes,
    sandboxPolicy: sandboxPolicy === undefined ? (confinement?.policy ?? null) : sandboxPolicy,
    ...(signal !== undefined && { signal }),
    ...(stdin !== undefined && { stdin }),
    ...(env !== undefined && { env: copied(env) }),
    ...(managedEnv !== undefined && { managedEnv: copied(managedEnv) }),
  })
  validateSpec(spec, rules)
  if (spec.sandboxPolicy === null) vetted.set(spec, rules)
  return spec
}

/** Applies no default: a spec may have been made by hand. Pure. @throws ShellError SHELL_BAD_REQUEST, SHELL_BAD_COMMAND */
export function validateSpec(spec: ShellSpec, rules: RequestRules): void {
  if (vetted.get(spec) === rules) return
  members(spec)
  validateCommand(spec.command)
  const { isAbsolute } = rules.platform === 'win32' ? win32 : posix
  if (typeof spec.workdir !== 'string' || !isAbsolute(spec.workdir)) bad('workdir', spec.workdir, 'an absolute path')
  if (spec.workdir.includes('\0')) bad('workdir', spec.workdir, 'a path without NUL characters')
  integer('timeoutMs', spec.timeoutMs, 1, MAX_TIMEOUT_MS)
  if (spec.onExpiry !== 'kill' && spec.onExpiry !== 'none') bad('onExpiry', spec.onExpiry, `'kill' or 'none'`)
  integer('stdoutMaxBytes', spec.stdoutMaxBytes, MIN_COLLECT_BYTES, Math.min(rules.config.maxSpillBytes, MAX_COLLECT_BYTES))
  if (spec.signal !== undefined && !isAbortSignal(spec.signal)) bad('signal', spec.signal, 'an AbortSignal, or absent')
  if (spec.stdin !== undefined && typeof spec.stdin !== 'string') bad('stdin', spec.stdin, 'a string, or absent')
  validateEntries('env', spec.env, envFault)
  validateEntries('managedEnv', spec.managedEnv, managedFault)
  validatePolicy(spec.sandboxPolicy, rules, isAbsolute)
}

/** What is no object stays what it is, to be refused: spread out, a text would be an object too. */
function copied(entries: EnvEntries): EnvEntries {
  return isRecord(entries) ? Object.freeze({ ...entries }) : entries
}

function nowhere(): never {
  refuse('workdir', "workdir is absent, and the host's own directory was deleted; name one, or set cwd of the executor's row")
}

function validateCommand(command: unknown): void {
  if (typeof command !== 'string') badCommand(`is ${shown(command)}; it must be a string`)
  if (command.includes('\0')) badCommand('holds a NUL character, which no program argument can carry; write the bytes to a file instead')
  if (/\p{Surrogate}/u.test(command)) badCommand('holds a lone surrogate, which has no encoding; it must be well-formed Unicode')
}

function validateEntries(field: 'env' | 'managedEnv', entries: unknown, faultOf: (key: string, value: unknown) => string | undefined): void {
  if (entries === undefined) return
  if (!isRecord(entries)) bad(field, entries, 'an object of strings, or absent')
  for (const [key, value] of Object.entries(entries)) {
    const fault = faultOf(key, value === undefined ? '' : value)
    if (fault !== undefined) refuse(field, `${field}.${key} ${fault}`)
  }
}

function managedFault(key: string, value: unknown): string | undefined {
  if (!isManaged(key)) return `does not begin with ${MANAGED_PREFIX}; put it into env`
  if (key.toUpperCase() === COOKIE_VARIABLE) return 'is reserved: the runtime finds the processes of a command by it'
  return pairFault(key, value)
}

function validatePolicy(policy: unknown, rules: RequestRules, isAbsolute: (path: string) => boolean): void {
  if (policy === null) {
    if (rules.confinement !== undefined) bad('sandboxPolicy', policy, 'a policy: this executor confines, so take the spec from resolve()')
    return
  }
  if (!isRecord(policy)) bad('sandboxPolicy', policy, 'an object { mode, workspaceRoot, sessionId? }, or null')
  const { mode, workspaceRoot, sessionId } = policy
  if (!MODES.includes(mode as string)) bad('sandboxPolicy.mode', mode, MODES.map((name) => `'${name}'`).join(', '))
  if (typeof workspaceRoot !== 'string' || !isAbsolute(workspaceRoot)) bad('sandboxPolicy.workspaceRoot', workspaceRoot, 'an absolute path')
  if (sessionId !== undefined && typeof sessionId !== 'string') bad('sandboxPolicy.sessionId', sessionId, 'a string, or absent')
}

function members(value: unknown): void {
  if (!isRecord(value)) refuse('request', `the request is ${shown(value)}; it must be an object`)
  for (const key of Object.keys(value)) {
    if (MEMBERS.includes(key)) continue
    const meant = didYouMean(key, MEMBERS)
    refuse(key, `${key} is not a member of a shell request${meant === undefined ? '' : `; did you mean ${meant}?`}`)
  }
}

function integer(field: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return
  const range = most === Number.POSITIVE_INFINITY ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`
  const hint = field === 'timeoutMs' ? ` milliseconds; for no deadline use onExpiry: 'none'` : ' bytes'
  bad(field, value, `${range}${hint}`)
}

function badCommand(problem: string): never {
  throw new ShellError('SHELL_BAD_COMMAND', `command ${problem}`, { details: { field: 'command' } })
}

function bad(field: string, value: unknown, accepted: string): never {
  refuse(field, `${field} is ${shown(value)}; it must be ${accepted}`)
}

function refuse(field: string, message: string): never {
  throw new ShellError('SHELL_BAD_REQUEST', message, { details: { field } })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAbortSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as AbortSignal).aborted === 'boolean' && 'addEventListener' in value
}

/** Short, and without the text of what may be long or secret. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
