import { capability } from '@tenon/kernel'
import type { CallView } from './call.ts'

/** Optional capability: asks a person. Any answer but `granted` denies the call, and so does its absence. */
export interface Approval {
  /** One question per call, whatever the number of policies that ask. Should give up when `request.signal` aborts; nobody waits for it then. */
  ask(request: CallView & { readonly reason: string }): Promise<'granted' | 'rejected' | 'cancelled' | 'unavailable'>
}
export const Approval = capability<Approval>('approval')
