import type { Readable, Writable } from 'node:stream'
import { capability } from '@tenon/kernel'

/**
 * Standard input and output of a process, which its program has given to one row. Whoever was given nothing touches neither: a console,
 * or whoever reads the results of a call, has them.
 */
export interface StandardStreams {
  /** Id of the row they are for. */
  readonly row: string
  /** Such as `process`. */
  readonly process: { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable }
  /** The session is over, and the row uses them no more: the client has gone, or the row has, was disabled or has another transport. */
  released(by: 'client' | 'row'): void
}
export const StandardStreams = capability<StandardStreams>('standard-streams')
