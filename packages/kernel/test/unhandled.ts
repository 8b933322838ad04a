import { drained } from './drained.ts'

/** Runs `work`, lets everything settle, and gives back the rejections that nobody handled meanwhile. */
export async function unhandledDuring(work: () => Promise<void>): Promise<unknown[]> {
  const reasons: unknown[] = []
  const listener = (reason: unknown): void => {
    reasons.push(reason)
  }
  process.on('unhandledRejection', listener)
  try {
    await work()
    await drained()
  } finally {
    process.off('unhandledRejection', listener)
  }
  return reasons
}
