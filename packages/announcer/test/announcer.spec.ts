import { Announcer, settledInTime } from '@tenon/announcer'
import { type Reconciling, Scope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'

/** Rows that are in transition until `settle` is called. */
class Rows implements Reconciling {
  #rows: readonly string[]
  readonly #waiters: (() => void)[] = []

  constructor(...rows: string[]) {
    this.#rows = rows
  }

  pending(): readonly string[] {
    return this.#rows
  }

  settled(signal: AbortSignal): Promise<void> {
    if (this.#rows.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiters.push(resolve)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  }

  settle(): void {
    this.#rows = []
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('an announcer', () => {
  it('announces the touches of one tick together', async () => {
    await using scope = new Scope()
    let told = 0
    const announcer = new Announcer(scope, new Rows(), 1_000, () => told++)
    announcer.touch()
    announcer.touch()
    expect(told).toBe(0)
    await turn()
    expect(told).toBe(1)
    announcer.touch()
    await turn()
    expect(told).toBe(2)
  })

  it('waits while rows are in transition, and tells once when they have settled', async () => {
    await using scope = new Scope()
    const rows = new Rows('a')
    let told = 0
    const announcer = new Announcer(scope, rows, 60_000, () => told++)
    announcer.touch()
    await turn()
    announcer.touch()
    await turn()
    expect(told).toBe(0)
    rows.settle()
    await turn()
    expect(told).toBe(1)
  })

  it('waits no longer than it was told', async () => {
    await using scope = new Scope()
    const announced = new Promise<void>((resolve) => new Announcer(scope, new Rows('hung'), 5, resolve).touch())
    await expect(announced).resolves.toBeUndefined()
  })

  it('says nothing after its scope has closed, whether it was due or waiting', async () => {
    const scope = new Scope()
    const rows = new Rows('a')
    let told = 0
    const due = new Announcer(scope, new Rows(), 1_000, () => told++)
    const waiting = new Announcer(scope, rows, 60_000, () => told++)
    waiting.touch()
    await turn()
    due.touch()
    await scope.close()
    rows.settle()
    await turn()
    expect(told).toBe(0)
  })
})

describe('settledInTime', () => {
  it('tells whether the rows settled, the time was over, or the signal aborted, and leaves no listener', async () => {
    const controller = new AbortController()
    const { signal } = controller
    expect(await settledInTime(new Rows(), signal, 1_000)).toBe(true)
    expect(await settledInTime(new Rows('hung'), signal, 5)).toBe(false)
    const aborted = settledInTime(new Rows('hung'), signal, 60_000)
    controller.abort(new Error('enough'))
    expect(await aborted).toBe(false)
    expect(await settledInTime(new Rows('hung'), signal, 60_000)).toBe(false)
  })

  it('hands on a fault that is neither', async () => {
    const broken: Reconciling = { pending: () => [], settled: () => Promise.reject(new Error('broken')) }
    await expect(settledInTime(broken, new AbortController().signal, 1_000)).rejects.toThrow('broken')
  })
})
