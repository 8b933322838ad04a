import type { SessionId } from '@tenon/session'
import type { JobView } from './job-view.ts'
import type { Offsets, OutputChunk } from './output.ts'

/** Of one job: `registered` is the first, `removed` the last. `changed` precedes each event it belongs to. */
export type JobEvent =
  /** What `list()` shows has changed. */
  | { readonly type: 'changed'; readonly owner: SessionId }
  | { readonly type: 'registered' | 'detached' | 'stopping' | 'removed'; readonly job: JobView }
  /**
   * `awaited`: the settlement released a wait of the owner, or the job was still held. `cause`: `teardown` for the registry's own stop, `kill`
   * if a stop was asked and the job did not complete, else `producer`.
   */
  | { readonly type: 'settled'; readonly job: JobView; readonly awaited: boolean; readonly cause: 'producer' | 'kill' | 'teardown' }

/** `end` comes after the terminal status and the bytes that were there at settlement, also if the record was removed meanwhile. */
export type JobFollow =
  | { readonly type: 'opened'; readonly job: JobView; readonly from: Offsets }
  | { readonly type: 'status' | 'end'; readonly job: JobView }
  | { readonly type: 'output'; readonly chunks: readonly OutputChunk[]; readonly next: Offsets }
