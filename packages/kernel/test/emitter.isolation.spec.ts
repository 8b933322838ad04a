import { capability, definePlugin, Emitter, Kernel, Scope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { quiet } from './quiet.ts'
import { reportedScope } from './reported-scope.ts'
import { unhandledDuring } from './unhandled.ts'

describe('an emitter', () => {
  it('KN-34 calls its listeners in the order of registration', () => {
    const emitter = new Emitter<string>()
    const scope = new Scope('test')
    const log: string[] = []
    for (const name of ['one', 'two']) emitter.on(scope, (event) => void log.push(`${name} ${event}`))
    emitter.emit('x')
    expect(log).toEqual(['one x', 'two x'])
  })

  it('KN-34 a throwing listener stops neither the others nor the emitter, and its owner is told', () => {
    const emitter = new Emitter<string>()
    const bad = reportedScope()
    const good = reportedScope()
    const log: string[] = []
    emitter.on(bad.scope, () => {
      throw new Error('broken listener')
    })
    emitter.on(good.scope, (event) => void log.push(event))
    emitter.emit('one')
    emitter.emit('two')
    expect(log).toEqual(['one', 'two'])
    expect(bad.faults.map(({ what, error }) => [what, error.message])).toEqual([
      ['listener', 'broken listener'],
      ['listener', 'broken listener'],
    ])
    expect(good.faults).toEqual([])
  })

  it('KN-34 a rejected promise of a listener is reported to the owner of its scope and never unhandled', async () => {
    const emitter = new Emitter<string>()
    const { scope, faults } = reportedScope()
    const asynchronous = async (): Promise<void> => {
      await drained(1)
      throw new Error('rejected later')
    }
    emitter.on(scope, asynchronous as () => void)
    expect(await unhandledDuring(async () => emitter.emit('x'))).toEqual([])
    expect(faults.map(({ error }) => error.message)).toEqual(['rejected later'])
  })

  it('KN-34 a listener removed during an emit is not called any more', async () => {
    const emitter = new Emitter<string>()
    const [first, second] = [new Scope('first'), new Scope('second')]
    const log: string[] = []
    emitter.on(first, () => {
      log.push('first')
      void second.close()
    })
    emitter.on(second, () => void log.push('second'))
    emitter.emit('x')
    expect(log).toEqual(['first'])
  })

  it('KN-34 a listener that removes itself during an emit skips nobody', () => {
    const emitter = new Emitter<string>()
    const scopes = ['one', 'two', 'three'].map((name) => new Scope(name))
    const log: string[] = []
    for (const scope of scopes) {
      emitter.on(scope, () => {
        log.push(scope.name)
        void scope.close()
      })
    }
    emitter.emit('x')
    emitter.emit('y')
    expect(log).toEqual(['one', 'two', 'three'])
    expect(emitter.listenerCount).toBe(0)
  })

  it('KN-34 an emit inside an emit reaches everybody both times', () => {
    const emitter = new Emitter<number>()
    const scope = new Scope('test')
    const log: string[] = []
    emitter.on(scope, (event) => {
      log.push(`first ${event}`)
      if (event === 1) emitter.emit(2)
    })
    emitter.on(scope, (event) => void log.push(`second ${event}`))
    emitter.emit(1)
    expect(log).toEqual(['first 1', 'first 2', 'second 2', 'second 1'])
  })

  it('KN-34 one function registered with two scopes goes only with the scope that closes', async () => {
    const emitter = new Emitter<string>()
    const [first, second] = [new Scope('first'), new Scope('second')]
    let calls = 0
    const listener = (): void => void calls++
    emitter.on(first, listener)
    emitter.on(second, listener)
    await first.close()
    emitter.emit('x')
    expect(calls).toBe(1)
  })

  it('KN-33 a listener registered with a closed scope is refused and never called', async () => {
    const emitter = new Emitter<string>()
    const scope = new Scope('test')
    await scope.close()
    let calls = 0
    expect(() => emitter.on(scope, () => void calls++)).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    emitter.emit('x')
    expect([calls, emitter.listenerCount]).toEqual([0, 0])
  })
})

describe('the listeners of a plugin', () => {
  const Bell = capability<Emitter<string>>('bell')

  it('KN-34 B158 after 20 reloads one emit is one call', async () => {
    await using kernel = new Kernel(quiet)
    const bell = new Emitter<string>()
    let calls = 0
    kernel.load(definePlugin({ name: 'bell', provides: [Bell], activate: (scope) => scope.provide(Bell, bell) }))
    const listening = (): ReturnType<typeof definePlugin> =>
      definePlugin({
        name: 'listener',
        inject: [Bell],
        activate(scope, emitter) {
          emitter.on(scope, () => void calls++)
          scope.inject([Bell], (fork, inner) => inner.on(fork, () => void calls++))
          kernel.events.on(scope, () => undefined)
        },
      })
    const row = kernel.load(listening())
    await kernel.settled()
    const before = kernel.events.listenerCount
    for (let i = 0; i < 20; i++) await row.replace(listening())
    await kernel.settled()
    bell.emit('ding')
    expect(calls).toBe(2)
    expect(kernel.events.listenerCount).toBe(before)
    await row.unload()
    bell.emit('ding')
    expect([calls, bell.listenerCount, kernel.events.listenerCount]).toEqual([2, 0, before - 1])
  })

  it('KN-34 B167 a listener that throws or rejects is named on the report of its own row, and the row stays active', async () => {
    await using kernel = new Kernel(quiet)
    const bell = new Emitter<string>()
    const row = kernel.load(
      definePlugin({
        name: 'clumsy',
        activate(scope) {
          bell.on(scope, () => {
            throw new Error('thrown in a listener')
          })
          bell.on(scope, (async () => {
            throw new Error('rejected in a listener')
          }) as () => void)
        },
      }),
    )
    await row.ready()
    expect(await unhandledDuring(async () => bell.emit('ding'))).toEqual([])
    const report = kernel.inspect().rows.find(({ id }) => id === 'clumsy')
    expect(report).toMatchObject({
      phase: 'active',
      faults: [{ message: expect.stringContaining('thrown in a listener') }, { message: expect.stringContaining('rejected in a listener') }],
    })
  })

  it('KN-34 B167 a throwing listener of the kernel’s own events disturbs neither the kernel nor the other listeners', async () => {
    await using kernel = new Kernel(quiet)
    const phases: string[] = []
    const hostile = new Scope('hostile', { undoMs: 1000, report: () => undefined })
    kernel.events.on(hostile, () => {
      throw new Error('broken')
    })
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'phase') phases.push(event.phase)
    })
    const row = kernel.load(definePlugin({ name: 'plain', activate: () => undefined }))
    await row.ready()
    await row.unload()
    expect(phases).toEqual(['activating', 'active', 'deactivating', 'unloaded'])
  })

  it('KN-33 B163 an effect registered inside an event handler is undone once, with the scope it was registered with', async () => {
    await using kernel = new Kernel(quiet)
    const bell = new Emitter<string>()
    let undone = 0
    const row = kernel.load(
      definePlugin({
        name: 'late-effect',
        activate(scope) {
          bell.on(scope, () => scope.defer(() => void undone++))
        },
      }),
    )
    await row.ready()
    bell.emit('ding')
    bell.emit('ding')
    expect(undone).toBe(0)
    await row.unload()
    expect(undone).toBe(2)
    bell.emit('ding')
    await kernel.close()
    expect(undone).toBe(2)
  })
})
