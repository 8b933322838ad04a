import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let app: Opened
beforeEach(async () => {
  app = await openTools()
})
afterEach(() => app.kernel.close())

async function heapAfter(work: () => Promise<void>): Promise<number> {
  await work()
  await drained()
  collectGarbage()
  return process.memoryUsage().heapUsed
}

describe('endurance', () => {
  it('TL-10 10,000 register and undo cycles leave the heap flat', async () => {
    const cycles = async (count: number) => {
      for (let n = 0; n < count; n++) {
        const scope = app.kernel.scope.child('plugin')
        app.tools.register(scope, echo())
        app.tools.use(scope, { name: 'P', guard: () => undefined })
        app.tools.view()
        await scope.close()
        if (n % 100 === 0) await drained()
      }
    }
    const before = await heapAfter(() => cycles(1_000))
    const after = await heapAfter(() => cycles(10_000))
    expect(after - before).toBeLessThan(1024 * 1024)
    expect(app.tools.view().tools).toEqual([])
  })

  it('TL-37 fuzzed requests yield a result, or the TypeError for a request without session or signal', async () => {
    app.tools.register(app.kernel.scope, echo())
    app.tools.register(app.kernel.scope, raw('raw'))
    const { session } = app
    const { signal } = new AbortController()
    const sometimes = <T>(value: T, odd: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(value) }, odd)
    const requests = fc.record(
      {
        name: fc.oneof(fc.constantFrom<unknown>('echo', 'raw'), fc.anything()),
        arguments: fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
        session: sometimes(session, fc.anything()),
        signal: sometimes(signal, fc.anything()),
        id: fc.anything(),
        parent: fc.anything(),
        onProgress: fc.anything(),
      },
      { requiredKeys: [] },
    )
    let results = 0
    let refusals = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: requests as fc.Arbitrary<unknown> }, fc.anything()), async (request) => {
        try {
          const result = await app.tools.execute(request as never)
          expect(result.content.length).toBeGreaterThan(0)
          expect(typeof result.isError).toBe('boolean')
          results++
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          const { session: own, signal: its } = Object(request) as { session?: unknown; signal?: unknown }
          expect(own === session && its === signal).toBe(false)
          refusals++
        }
      }),
      { numRuns: 2_000 },
    )
    expect(results).toBeGreaterThan(200)
    expect(refusals).toBeGreaterThan(100)
    const started = app.events.filter(({ type }) => type === 'started').length
    const finished = app.events.filter(({ type }) => type === 'finished').length
    expect(finished).toBe(results)
    expect(started).toBeLessThanOrEqual(finished)
  })
})
