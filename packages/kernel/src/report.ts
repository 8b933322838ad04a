import type { KernelErrorCode } from './errors.ts'
import type { Phase } from './row.ts'

export interface ForkReport {
  readonly needs: readonly string[]
  readonly branch: 'present' | 'otherwise' | 'none'
  readonly phase: Phase
  readonly offers: readonly string[]
  readonly effects: number
  readonly error?: string
  readonly forks: readonly ForkReport[]
}

export interface RowReport {
  readonly id: string
  readonly plugin: string
  readonly phase: Phase
  readonly generation: number
  readonly optional: boolean
  readonly injects: readonly string[]
  readonly provides: readonly string[]
  /** Capability → id of the row it is bound to (`kernel` for the kernel's own). */
  readonly bindings: Readonly<Record<string, string>>
  /** Capabilities it offers right now, its forks included. */
  readonly offers: readonly string[]
  readonly effects: number
  readonly kept: readonly string[]
  /** Milliseconds of the last activation, and of the last closing. */
  readonly activationMs?: number
  readonly closingMs?: number
  readonly error?: { readonly code: string; readonly message: string }
  /** Faults of undos, listeners, spawned work and fork bodies, newest last, at most 20. */
  readonly faults: readonly { readonly what: string; readonly code?: string; readonly message: string }[]
  readonly forks: readonly ForkReport[]
}

/** Plain JSON. */
export interface KernelReport {
  readonly rows: readonly RowReport[]
  readonly settled: boolean
  /** Capability → id of the providing row. */
  readonly provisions: Readonly<Record<string, string>>
}

/** Why a row is not active. */
export interface Cause {
  readonly row: string
  readonly phase: Phase
  readonly code?: KernelErrorCode | string
  readonly message: string
  /** What it waits for. */
  readonly capability?: string
  readonly causes: readonly Cause[]
}
