import { constants } from 'node:os'
import type { ShellResult } from '@tenon/shell'
import { ExitCode } from './exit-codes.ts'

/** 124 for a command that was cut off by its deadline, as `timeout` reports it. */
const TIMED_OUT = 124

/** The status of a command as a shell would report it, read from the value of a shell tool; 0 for one that still runs. */
export function commandStatus(value: unknown): number {
  if (typeof value !== 'object' || value === null) return ExitCode.ok
  const { kind, exitCode, signal, timedOut } = value as { readonly kind?: unknown } & Partial<ShellResult>
  if (kind !== 'foreground') return ExitCode.ok
  if (timedOut === true) return TIMED_OUT
  if (typeof exitCode === 'number') return exitCode
  const number = typeof signal === 'string' ? constants.signals[signal] : undefined
  return number === undefined ? ExitCode.failed : 128 + number
}
