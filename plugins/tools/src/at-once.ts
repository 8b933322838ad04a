import { problems } from './text.ts'

/**
 * What an author's synchronous function has returned. A promise is refused: nobody waits for it, and if it rejects later, that must not take
 * the host with it.
 * @throws Error for a promise
 */
export function atOnce<T>(answer: T): T {
  const late = thenable(answer)
  if (late === undefined) return answer
  late.then(undefined, () => undefined)
  throw new Error(problems.promise)
}

/** Read once: a getter named `then` may answer differently the second time. */
export function thenable(value: unknown): PromiseLike<unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const then: unknown = (value as { then?: unknown }).then
  // biome-ignore lint/suspicious/noThenProperty: it stands for what was read, bound to its owner.
  return typeof then === 'function' ? { then: then.bind(value) as PromiseLike<unknown>['then'] } : undefined
}
