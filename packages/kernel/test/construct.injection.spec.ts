import { capability, definePlugin, inject, Kernel, PluginScope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'

class Tool {
  constructor(
    @inject(A) readonly a: string,
    @inject(B) readonly b: string,
    @inject(PluginScope) readonly scope: PluginScope,
  ) {}
}
class Incomplete {
  constructor(
    @inject(A) readonly a: string,
    readonly b: string,
  ) {}
}
class Explosive {
  constructor(@inject(A) readonly a: string) {
    throw new Error(`no fuse for ${a}`)
  }
}
class Plain {}

const Built = capability<unknown>('built')

/** Constructs the class in an activation that injects A, or in its fork that injects B as well, and says what came of it. */
async function constructed(type: new (...injected: never[]) => unknown, where: 'activation' | 'fork'): Promise<unknown> {
  await using kernel = new Kernel(quiet)
  let result: unknown
  const attempt = (scope: PluginScope): void => {
    try {
      result = scope.construct(type)
    } catch (error) {
      result = error
    }
  }
  kernel.load(traced([], 'a', { provides: [A] }))
  kernel.load(traced([], 'b', { provides: [B] }))
  kernel.load(
    definePlugin({
      name: 'builder',
      inject: [A],
      activate: (scope) => (where === 'activation' ? attempt(scope) : scope.inject([B], (fork) => attempt(fork))),
    }),
  )
  await kernel.settled()
  return result
}

describe('construct', () => {
  it('KN-38 gives every parameter what its token names: of the row, of the fork, and the scope itself', async () => {
    const tool = await constructed(Tool, 'fork')
    expect(tool).toBeInstanceOf(Tool)
    expect(tool).toMatchObject({ a: 'a#1', b: 'b#1' })
    expect((tool as Tool).scope).toBeInstanceOf(PluginScope)
    expect((tool as Tool).scope.closed).toBe(true)
  })

  it('KN-38 makes a new instance each time, also of a class without parameters', async () => {
    await using kernel = new Kernel(quiet)
    const made: unknown[] = []
    kernel.load(definePlugin({ name: 'builder', activate: (scope) => void made.push(scope.construct(Plain), scope.construct(Plain)) }))
    await kernel.settled()
    expect(made).toEqual([expect.any(Plain), expect.any(Plain)])
    expect(made[0]).not.toBe(made[1])
  })

  it.each([
    ['a parameter without a token', Incomplete, /Incomplete.*1/s],
    ['what is not injected there', Tool, /Tool.*"b"/s],
    ['a constructor that throws', Explosive, /Explosive.*no fuse for a#1/s],
  ])('KN-38 fails with a reason for %s', async (_, type, message) => {
    expect(await constructed(type as new (...injected: never[]) => unknown, 'activation')).toMatchObject({
      code: 'CONSTRUCTION_FAILED',
      message: expect.stringMatching(message),
    })
  })

  it('KN-38 sees the value of the current activation, never that of the one before', async () => {
    await using kernel = new Kernel(quiet)
    const seen: unknown[] = []
    class Reader {
      constructor(@inject(A) readonly a: string) {}
    }
    const provider = kernel.load(traced([], 'old', { provides: [A] }))
    kernel.load(definePlugin({ name: 'builder', inject: [A], activate: (scope) => void seen.push(scope.construct(Reader).a) }))
    await kernel.settled()
    await provider.replace(traced([], 'new', { provides: [A] }))
    await kernel.settled()
    expect(seen).toEqual(['old#1', 'new#1'])
  })

  it('KN-38 the scope of a fork’s instance is the fork, not the row', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    class Listener {
      constructor(@inject(PluginScope) scope: PluginScope) {
        scope.defer(() => void log.push('instance undone'))
      }
    }
    const provider = kernel.load(traced([], 'a', { provides: [A] }))
    kernel.load(definePlugin({ name: 'builder', activate: (scope) => scope.inject([A], (fork) => void fork.construct(Listener)) }))
    await kernel.settled()
    await provider.unload()
    await kernel.settled()
    expect([log, kernel.row('builder')?.phase]).toEqual([['instance undone'], 'active'])
  })

  it('KN-38 may hand out what it constructed as an offer', async () => {
    await using kernel = new Kernel(quiet)
    class Service {
      constructor(@inject(A) readonly a: string) {}
    }
    kernel.load(traced([], 'a', { provides: [A] }))
    kernel.load(
      definePlugin({ name: 'builder', inject: [A], provides: [Built], activate: (scope) => scope.provide(Built, scope.construct(Service)) }),
    )
    await kernel.settled()
    expect(kernel.get(Built)).toEqual(new Service('a#1'))
  })

  it('KN-38 a plugin may inject one capability twice, and gets it twice', async () => {
    await using kernel = new Kernel(quiet)
    const seen: unknown[] = []
    kernel.load(traced([], 'a', { provides: [A] }))
    kernel.load(definePlugin({ name: 'twice', inject: [A, A], activate: (_, first, second) => void seen.push(first, second) }))
    kernel.load(definePlugin({ name: 'fork', activate: (scope) => scope.inject([A, A], (_, first, second) => void seen.push(first, second)) }))
    await kernel.settled()
    expect(seen).toEqual(['a#1', 'a#1', 'a#1', 'a#1'])
  })
})
