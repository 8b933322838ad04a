import type { Leftover } from './leftover.ts'

/** Anything that tells how many listeners it has: an `Emitter` of the kernel, for one. */
export interface Listened {
  readonly listenerCount: number
}

interface Watched {
  readonly name: string
  count(): number
  readonly before: number
}

/** Compares how many listeners there are at the end with how many there were when it was told of them. */
export class ListenerWatch {
  readonly #watched: Watched[] = []
  readonly #before = countProcess()

  watch(name: string, emitter: Listened): void {
    this.#watched.push({ name, count: () => emitter.listenerCount, before: emitter.listenerCount })
  }

  left(): Leftover[] {
    const more: (readonly [string, number])[] = this.#watched.map(({ name, count, before }) => [name, count() - before])
    for (const [event, count] of countProcess()) more.push([`the process event "${event}"`, count - (this.#before.get(event) ?? 0)])
    return more.filter(([, count]) => count > 0).map(([name, count]) => ({ kind: 'listener', what: `${count} more of ${name}` }))
  }
}

function countProcess(): Map<string, number> {
  return new Map(process.eventNames().map((event) => [String(event), process.listenerCount(event)]))
}
