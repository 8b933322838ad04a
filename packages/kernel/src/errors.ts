export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/**
 * Base of every error class of the kernel and the contracts. Recognise one by its `code`, not by `instanceof`: two copies of a
 * package can meet in one process.
 */
export class CodedError<C extends string = string> extends Error {
  readonly code: C
  readonly details?: Json

  constructor(code: C, message: string, options: { cause?: unknown; details?: Json } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = new.target.name
    this.code = code
    if (options.details !== undefined) this.details = options.details
  }
}

export type KernelErrorCode =
  | 'CAPABILITY_KEY_INVALID'
  | 'CAPABILITY_TAKEN'
  | 'CAPABILITY_CYCLE'
  | 'CONFIG_INVALID'
  | 'PLUGIN_LOADED_TWICE'
  | 'PLUGIN_UNRESOLVED'
  | 'OFFER_TOO_LATE'
  | 'OFFER_UNDECLARED'
  | 'SCOPE_CLOSED'
  | 'ACTIVATION_FAILED'
  | 'ACTIVATION_TIMEOUT'
  | 'CLEANUP_TIMEOUT'
  | 'CONSTRUCTION_FAILED'
  | 'WOULD_DEADLOCK'
  | 'ROLLED_BACK'
  | 'KERNEL_CLOSED'

/** Messages name the row, the capability and what to do. */
export class KernelError extends CodedError<KernelErrorCode> {}

/** What was thrown, as an `Error` that can be read: plugins can throw anything, the kernel passes on nothing else. */
export function asError(thrown: unknown): Error {
  try {
    // Of a proxy, or with a getter, either may throw.
    if (thrown instanceof Error && typeof thrown.message === 'string') return thrown
    return new Error(String(thrown), { cause: thrown })
  } catch {
    return new Error('<unprintable thrown value>', { cause: thrown })
  }
}
