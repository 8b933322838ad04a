import type { SendSignal } from './posix-tree.ts'

/** To probe a group that is gone is the common case, and nobody reads where the error comes from: to record that takes most of the time. */
export const sendSignal: SendSignal = (target, signal) => {
  const { stackTraceLimit } = Error
  // Where it is frozen this does nothing; an assignment would throw.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    process.kill(target, signal)
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }
}
