import { Scope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { reportedScope } from './reported-scope.ts'
import { unhandledDuring } from './unhandled.ts'

describe('undoing', () => {
  it('KN-01 undos run last in first out', async () => {
    const scope = new Scope('test')
    const log: string[] = []
    for (const name of ['first', 'second', 'third']) {
      scope.defer(() => {
        log.push(name)
      })
    }
    await scope.close()
    expect(log).toEqual(['third', 'second', 'first'])
  })

  it('KN-01 an undo begins only after the one before it has ended', async () => {
    const scope = new Scope('test')
    const log: string[] = []
    const gate = new Gate()
    scope.defer(() => {
      log.push('last')
    })
    scope.defer(async () => {
      log.push('slow begins')
      await gate.pass()
      log.push('slow ends')
    })
    const closing = scope.close()
    await drained()
    expect(log).toEqual(['slow begins'])
    gate.open()
    await closing
    expect(log).toEqual(['slow begins', 'slow ends', 'last'])
  })

  it('KN-01 every undo runs once, however often and from wherever the scope is closed', async () => {
    const scope = new Scope('test')
    let runs = 0
    scope.defer(async () => {
      runs++
      void scope.close().catch(() => undefined)
      await drained()
    })
    await Promise.all([scope.close(), scope.close(), scope[Symbol.asyncDispose]()])
    await scope.close()
    expect(runs).toBe(1)
  })

  it('KN-01 an undo that throws, rejects or throws what is no error stops none of the others and is reported as an error', async () => {
    const { scope, faults } = reportedScope()
    const log: string[] = []
    scope.defer(() => {
      log.push('first')
    })
    scope.defer(() => {
      throw new Error('thrown')
    })
    scope.defer(() => Promise.reject(new Error('rejected')))
    scope.defer(() => {
      throw 'a string'
    })
    scope.defer(() => Promise.reject(undefined))
    scope.defer(() => {
      log.push('last')
    })
    await scope.close()
    expect(log).toEqual(['last', 'first'])
    expect(faults.map(({ what, error }) => [what, error instanceof Error, error.message])).toEqual([
      ['undo', true, 'undefined'],
      ['undo', true, 'a string'],
      ['undo', true, 'rejected'],
      ['undo', true, 'thrown'],
    ])
  })

  it.each([
    ['resolves and returns nothing', (resolve: () => void) => resolve()],
    [
      'throws',
      () => {
        throw new Error('hostile')
      },
    ],
  ])('KN-01 a thenable whose `then` %s does not keep the other undos from running', async (_, then) => {
    const { scope } = reportedScope()
    let ran = false
    scope.defer(() => {
      ran = true
    })
    scope.defer(() => ({ then }) as unknown as Promise<void>)
    const reasons = await unhandledDuring(async () => {
      const closing = scope.close()
      await drained()
      expect(ran).toBe(true)
      await closing
    })
    expect(reasons).toEqual([])
  })

  it('KN-01 each undo has its own budget: one that overruns is reported and left behind', async () => {
    const { scope, faults } = reportedScope(20)
    const log: string[] = []
    scope.defer(() => {
      log.push('first')
    })
    scope.defer(() => new Promise(() => undefined))
    scope.defer(() => new Promise(() => undefined))
    await scope.close()
    expect(log).toEqual(['first'])
    expect(faults.map(({ error }) => error)).toEqual([
      expect.objectContaining({ code: 'CLEANUP_TIMEOUT' }),
      expect.objectContaining({ code: 'CLEANUP_TIMEOUT' }),
    ])
  })

  it('KN-01 closing a child is no undo of its parent: three slow undos in it do not share one budget', async () => {
    const { scope, faults } = reportedScope(60)
    const child = scope.child('child')
    for (let i = 0; i < 3; i++) child.defer(() => new Promise((resolve) => setTimeout(resolve, 35)))
    await scope.close()
    expect(faults).toEqual([])
  })
})

describe('closing', () => {
  it('KN-02 everybody who closes waits for the same quiescence', async () => {
    const scope = new Scope('test')
    const gate = new Gate()
    const log: string[] = []
    scope.defer(() => gate.pass())
    for (const name of ['one', 'two']) void scope.close().then(() => log.push(name))
    await gate.reached
    void scope.close().then(() => log.push('three'))
    await drained()
    expect(log).toEqual([])
    gate.open()
    await scope.close()
    expect(log).toEqual(['one', 'two', 'three'])
  })

  it('KN-02 a scope without effects closes too', async () => {
    await expect(new Scope('test').close()).resolves.toBeUndefined()
  })

  it('KN-02 its own undo that awaits `close` is refused, and the closing goes on', async () => {
    const { scope, faults } = reportedScope()
    const log: string[] = []
    scope.defer(() => {
      log.push('first')
    })
    scope.defer(async () => {
      await scope.close()
      log.push('never')
    })
    await scope.close()
    expect(log).toEqual(['first'])
    expect(faults.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'WOULD_DEADLOCK' })])
  })

  it('KN-02 its own undo is refused after it has waited for something else, too', async () => {
    const { scope, faults } = reportedScope()
    const gate = new Gate()
    scope.defer(async () => {
      await gate.pass()
      await drained()
      await scope.close()
    })
    const closing = scope.close()
    await gate.reached
    gate.open()
    await closing
    expect(faults.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'WOULD_DEADLOCK' })])
  })

  it('KN-02 the undo of a child that awaits the closing of its parent is refused', async () => {
    const { scope, faults } = reportedScope()
    scope
      .child('child')
      .child('grandchild')
      .defer(async () => {
        await scope.close()
      })
    await scope.close()
    expect(faults.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'WOULD_DEADLOCK' })])
  })

  it('KN-02 an undo may ask for `close` without awaiting it, and nothing shows as unhandled', async () => {
    const { scope, faults } = reportedScope()
    scope.defer(() => {
      void scope.close()
    })
    expect(await unhandledDuring(() => scope.close())).toEqual([])
    expect(faults).toEqual([])
  })

  it('KN-02 what an undo started and left running may wait for the closing', async () => {
    const { scope, faults } = reportedScope()
    const gate = new Gate()
    const ended = new Gate()
    scope.defer(() => {
      void gate.pass().then(async () => {
        await scope.close()
        ended.open()
      })
    })
    await scope.close()
    gate.open()
    await ended.pass()
    expect(faults).toEqual([])
  })

  it('KN-02 an undo of one scope may await the closing of another', async () => {
    const { scope, faults } = reportedScope()
    const other = new Scope('other')
    let closed = false
    other.defer(async () => {
      await drained()
      closed = true
    })
    scope.defer(() => other.close())
    await scope.close()
    expect(closed).toBe(true)
    expect(faults).toEqual([])
  })
})

describe('a scope that is no longer open', () => {
  it('KN-03 `defer` on a closed scope runs the undo at once and throws', async () => {
    const scope = new Scope('test')
    await scope.close()
    let runs = 0
    expect(() =>
      scope.defer(() => {
        runs++
      }),
    ).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(runs).toBe(1)
  })

  it('KN-03 so it does while the scope is closing, from inside one of its undos', async () => {
    const { scope, faults } = reportedScope()
    const log: string[] = []
    scope.defer(() => {
      log.push('first')
    })
    scope.defer(() => {
      scope.defer(() => {
        log.push('inner')
      })
    })
    await scope.close()
    expect(log).toEqual(['inner', 'first'])
    expect(faults.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'SCOPE_CLOSED' })])
  })

  it('KN-03 an undo that fails on a closed scope is reported, and the refusal is thrown all the same', async () => {
    const { scope, faults } = reportedScope()
    await scope.close()
    const reasons = await unhandledDuring(async () => {
      expect(() => scope.defer(() => Promise.reject(new Error('late')))).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    })
    expect(reasons).toEqual([])
    expect(faults.map(({ error }) => error.message)).toEqual(['late'])
  })

  it('KN-03 `use` on a closed scope disposes of the resource at once and throws', async () => {
    const scope = new Scope('test')
    await scope.close()
    let disposed = 0
    expect(() => scope.use({ [Symbol.dispose]: () => void disposed++ })).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(disposed).toBe(1)
  })

  it('KN-03 `spawn` and `child` refuse, and the work never starts', async () => {
    const scope = new Scope('test')
    await scope.close()
    let started = false
    expect(() =>
      scope.spawn(async () => {
        started = true
      }),
    ).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(() => scope.child('child')).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    await drained()
    expect(started).toBe(false)
  })
})
