import { Scope } from '@tenon/kernel'

export interface Fault {
  readonly what: string
  readonly error: Error
}

/** A scope of its own, with an owner that writes down what it is told. */
export function reportedScope(undoMs = 10_000): { readonly scope: Scope; readonly faults: Fault[] } {
  const faults: Fault[] = []
  const scope = new Scope('test', { undoMs, report: (error, what) => faults.push({ what, error }) })
  return { scope, faults }
}
