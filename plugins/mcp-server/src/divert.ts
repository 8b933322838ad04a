import type { Writable } from 'node:stream'

/**
 * Makes whatever is written to one stream, as by `console.log`, go to another. Whoever owns the first still writes to it with
 * `Writable.prototype.write`. The result takes the diversion away.
 */
export function divert(from: Writable, to: Writable): () => void {
  const before = Object.getOwnPropertyDescriptor(from, 'write')
  const write = (...args: Parameters<Writable['write']>): boolean => to.write(...args)
  Object.defineProperty(from, 'write', { value: write, configurable: true, writable: true, enumerable: true })
  return () => {
    if (before === undefined) Reflect.deleteProperty(from, 'write')
    else Object.defineProperty(from, 'write', before)
  }
}
