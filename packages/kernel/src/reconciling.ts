import { capability } from './capability.ts'

/** Tells which rows are in transition. Provided by the kernel itself, to every plugin that injects it. */
export interface Reconciling {
  /** Ids of the rows in transition, in load order. */
  pending(): readonly string[]
  /** Resolves when no row is in transition; rejects with the signal's reason. Never counts as waiting for oneself. */
  settled(signal: AbortSignal): Promise<void>
}
export const Reconciling = capability<Reconciling>('reconciling')
