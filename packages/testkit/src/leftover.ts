/** One thing that was still there after everything had closed. */
export interface Leftover {
  /**
   * `effect`: an undo, a disposal or spawned work of a row that failed or overran its budget. `fault`: another fault that a row
   * reported and no test asked for. `process`, `timer`, `handle`: what keeps running outside the kernel. `listener`: of the process, of the
   * kernel's events, or of a watched emitter.
   */
  readonly kind: 'effect' | 'fault' | 'process' | 'timer' | 'handle' | 'listener'
  readonly what: string
  /** File and line that made it, where that is known. */
  readonly where?: string
}

export function describeLeftover({ kind, what, where }: Leftover): string {
  return `${kind}: ${what}${where === undefined ? '' : ` (made at ${where})`}`
}
