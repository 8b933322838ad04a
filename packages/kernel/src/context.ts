import { AsyncLocalStorage } from 'node:async_hooks'
import type { Scope } from './scope.ts'

/** Says in whose name code is running, so that waiting for oneself can be told from waiting for others. */
export interface Mark {
  readonly scope: Scope
  readonly what: 'activation' | 'fork body' | 'undo' | 'spawned work'
  /** False once the activation, undo or body has ended: what it started and left running may wait like anybody else. */
  open: boolean
}

const storage = new AsyncLocalStorage<Mark | undefined>()
let holds = 0

/**
 * The storage is on only between `hold` and the last `release`: on Node 20 an enabled AsyncLocalStorage makes every await of the
 * process three to four times as dear.
 */
export function hold(): void {
  holds++
}

export function release(): void {
  if (--holds === 0) storage.disable()
}

/** Runs the synchronous part of `work`, and all it awaits while the storage is held, under the mark; without one in nobody's name. */
export function runMarked<T>(mark: Mark | undefined, work: () => T): T {
  hold()
  try {
    return storage.run(mark, work)
  } finally {
    release()
  }
}

export function currentMark(): Mark | undefined {
  if (holds === 0) return undefined
  const mark = storage.getStore()
  return mark?.open === true ? mark : undefined
}
