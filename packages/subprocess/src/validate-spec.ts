import { posix, win32 } from 'node:path'
import { didYouMean } from '@tenon/kernel'
import { SubprocessError } from './errors.ts'
import { MAX_COLLECT_BYTES, MAX_GRACE_MS, MIN_COLLECT_BYTES } from './limits.ts'
import { COOKIE_VARIABLE } from './managed-environment.ts'
import type { SpawnSpec } from './spawn-spec.ts'

/**
 * Checks a spawn spec for a world of the given platform. Pure, and the first thing `spawn` does. A NUL byte, a missing program or
 * directory and an argument list that is too long are for the platform to judge: they settle the handle with SPAWN_FAILED.
 * @throws SubprocessError SPEC_INVALID, naming the field and what it accepts; `details.field` is the field alone.
 */
export function validateSpec(spec: unknown, platform: NodeJS.Platform): asserts spec is SpawnSpec {
  const members = record(spec, 'spec')
  known(members, ['argv', 'argv0', 'cwd', 'env', 'stdin', 'stdout', 'stderr', 'graceMs', 'signal'], '')
  validateArgv(members.argv, platform)
  if (members.argv0 !== undefined && !isText(members.argv0)) fail('argv0', members.argv0, 'a non-empty string, or absent')
  if (!isText(members.cwd) || !pathOf(platform).isAbsolute(members.cwd)) fail('cwd', members.cwd, 'an absolute path')
  if (members.env !== undefined) validateEnv(members.env, platform)
  validateStdin(members.stdin)
  validateOutput('stdout', members.stdout)
  validateOutput('stderr', members.stderr)
  integer('graceMs', members.graceMs, 1, MAX_GRACE_MS, 'milliseconds')
  if (members.signal !== undefined && !isAbortSignal(members.signal)) fail('signal', members.signal, 'an AbortSignal, or absent')
}

function validateArgv(argv: unknown, platform: NodeJS.Platform): void {
  if (!Array.isArray(argv) || argv.length === 0) fail('argv', argv, 'an array of the program and its arguments')
  const [program] = argv as unknown[]
  if (!isText(program)) fail('argv[0]', program, 'a non-empty string: a bare name or an absolute path')
  if (!isBareName(program, platform) && !pathOf(platform).isAbsolute(program)) {
    fail('argv[0]', program, 'a bare name or an absolute path; resolve a relative path against the directory it is meant for')
  }
  for (let index = 1; index < argv.length; index++) if (typeof argv[index] !== 'string') fail(`argv[${index}]`, argv[index], 'a string')
}

/** `C:tool` is neither on Windows: it is relative to the current directory of a drive. */
function isBareName(program: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? !/[\\/:]/.test(program) : !program.includes('/')
}

function validateEnv(env: unknown, platform: NodeJS.Platform): void {
  for (const [name, value] of Object.entries(record(env, 'env'))) {
    // `A=B: 'c'` would reach the child as A with the value `B=c`: a way around every rule about names.
    if (name.includes('=')) fail('env', name, 'names without "="')
    if ((platform === 'win32' ? name.toUpperCase() : name) === COOKIE_VARIABLE) {
      throw invalid('env', `env.${name} is reserved: the runtime finds the processes of a spawn by it; leave it out`)
    }
    if (value !== undefined && typeof value !== 'string') fail(`env.${name}`, value, 'a string, or undefined to remove the inherited variable')
  }
}

function validateStdin(stdin: unknown): void {
  if (stdin === 'ignore' || stdin === 'pipe') return
  const accepted = `'ignore', 'pipe' or { data: string | Uint8Array }`
  if (typeof stdin !== 'object' || stdin === null) fail('stdin', stdin, accepted)
  const members = record(stdin, 'stdin')
  known(members, ['data'], 'stdin.')
  if (typeof members.data !== 'string' && !(members.data instanceof Uint8Array)) fail('stdin.data', members.data, 'a string or a Uint8Array')
}

function validateOutput(stream: 'stdout' | 'stderr', mode: unknown): void {
  if (mode === 'pipe' || mode === 'inherit') return
  if (typeof mode !== 'object' || mode === null) fail(stream, mode, `'pipe', 'inherit' or { maxBytes, spill? }`)
  const collect = record(mode, stream)
  known(collect, ['maxBytes', 'spill'], `${stream}.`)
  const tail = integer(`${stream}.maxBytes`, collect.maxBytes, MIN_COLLECT_BYTES, MAX_COLLECT_BYTES, 'bytes')
  if (collect.spill === undefined) return
  const spill = record(collect.spill, `${stream}.spill`)
  known(spill, ['maxBytes'], `${stream}.spill.`)
  integer(`${stream}.spill.maxBytes`, spill.maxBytes, tail, Number.MAX_SAFE_INTEGER, 'bytes, not smaller than the tail')
}

function integer(field: string, value: unknown, least: number, most: number, unit: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    fail(field, value, `an integer from ${least} to ${most} (${unit})`)
  }
  return value
}

function record(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(field, value, 'an object')
  return value as Record<string, unknown>
}

function known(members: Record<string, unknown>, names: readonly string[], path: string): void {
  for (const name of Object.keys(members)) {
    if (names.includes(name)) continue
    const meant = didYouMean(name, names)
    throw invalid(`${path}${name}`, `${path}${name} is not a member of a spawn spec${meant === undefined ? '' : `; did you mean ${path}${meant}?`}`)
  }
}

function fail(field: string, value: unknown, accepted: string): never {
  throw invalid(field, `${field} is ${shown(value)}; it must be ${accepted}`)
}

function invalid(field: string, message: string): SubprocessError {
  return new SubprocessError('SPEC_INVALID', `spawn: ${message}`, { details: { field } })
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isAbortSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as AbortSignal).aborted === 'boolean' && 'addEventListener' in value
}

function pathOf(platform: NodeJS.Platform): typeof posix {
  return platform === 'win32' ? win32 : posix
}

/** Short, and without the text of a member that may be long or secret. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (Array.isArray(value)) return value.length === 0 ? 'empty' : 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
