import { Scope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { reportedScope } from './reported-scope.ts'
import { unhandledDuring } from './unhandled.ts'

describe('resources', () => {
  it('KN-04 `use` gives the resource back and disposes of it on close, synchronously or awaited', async () => {
    const scope = new Scope('test')
    const log: string[] = []
    const gate = new Gate()
    const plain = { [Symbol.dispose]: () => void log.push('plain') }
    const slow = {
      async [Symbol.asyncDispose]() {
        log.push('slow begins')
        await gate.pass()
        log.push('slow ends')
      },
    }
    expect(scope.use(plain)).toBe(plain)
    expect(scope.use(slow)).toBe(slow)
    const closing = scope.close()
    await gate.reached
    gate.open()
    await closing
    expect(log).toEqual(['slow begins', 'slow ends', 'plain'])
  })

  it('KN-04 a resource with both ways is disposed of once, the awaited way', async () => {
    const scope = new Scope('test')
    const log: string[] = []
    scope.use({ [Symbol.dispose]: () => void log.push('sync'), [Symbol.asyncDispose]: async () => void log.push('async') })
    await scope.close()
    expect(log).toEqual(['async'])
  })
})

describe('spawned work', () => {
  it('KN-04 is cancelled first, then waited for, and earlier undos wait with it', async () => {
    const scope = new Scope('test')
    const log: string[] = []
    const gate = new Gate()
    scope.defer(() => {
      log.push('undo')
    })
    scope.spawn(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      log.push('cancelled')
      await gate.pass()
      log.push('ended')
    })
    const closing = scope.close()
    await gate.reached
    await drained()
    expect(log).toEqual(['cancelled'])
    gate.open()
    await closing
    expect(log).toEqual(['cancelled', 'ended', 'undo'])
  })

  it('KN-04 that rejects, or throws at once, is reported to the owner of its scope and nowhere else', async () => {
    const { scope, faults } = reportedScope()
    const reasons = await unhandledDuring(async () => {
      scope.spawn(async () => {
        await drained(1)
        throw new Error('rejected')
      })
      scope.spawn(() => {
        throw new Error('thrown')
      })
      await drained()
    })
    expect(reasons).toEqual([])
    expect(faults.map(({ what, error }) => `${what}: ${error.message}`).sort()).toEqual(['spawned work: rejected', 'spawned work: thrown'])
    await scope.close()
  })

  it('KN-04 that fails after its cancellation is reported, that ends with the reason of the cancellation is not', async () => {
    const { scope, faults } = reportedScope()
    scope.spawn(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new Error('lost the file')
    })
    scope.spawn(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
    })
    await scope.close()
    expect(faults.map(({ error }) => error.message)).toEqual(['lost the file'])
  })

  it('KN-04 that ends by itself is forgotten: closing does not wait for it', async () => {
    const scope = new Scope('test')
    let ended = false
    scope.spawn(async () => {
      ended = true
    })
    await drained()
    expect(ended).toBe(true)
    await scope.close()
  })

  it('KN-04 that outlives its budget after the cancellation is reported and left behind', async () => {
    const { scope, faults } = reportedScope(20)
    scope.spawn(() => new Promise(() => undefined))
    await scope.close()
    expect(faults).toEqual([{ what: 'spawned work', error: expect.objectContaining({ code: 'CLEANUP_TIMEOUT' }) }])
  })

  it('KN-04 that awaits the closing of its own scope is refused', async () => {
    const { scope, faults } = reportedScope(200)
    const refused = new Gate()
    scope.spawn(async () => {
      await scope.close().catch((error: unknown) => refused.fail(error))
    })
    await expect(refused.pass()).rejects.toMatchObject({ code: 'WOULD_DEADLOCK' })
    await scope.close()
    expect(faults).toEqual([])
  })

  it('KN-04 that awaits the closing of its own scope after a pause, when whose work it is cannot be told any more, costs one budget', async () => {
    const { scope, faults } = reportedScope(30)
    const pause = new Gate()
    const log: string[] = []
    scope.defer(() => {
      log.push('undo')
    })
    scope.spawn(async () => {
      await pause.pass()
      await scope.close().then(
        () => log.push('closed'),
        () => log.push('refused'),
      )
    })
    await drained()
    pause.open()
    await drained()
    await scope.close()
    await drained()
    expect([
      ['refused', 'undo'],
      ['undo', 'closed'],
    ]).toContainEqual(log)
    expect(faults.map(({ error }) => (error as { code?: string }).code)).toEqual(log.includes('closed') ? ['CLEANUP_TIMEOUT'] : [])
  })
})

describe('signal and children', () => {
  it('KN-05 the signal aborts before the first undo', async () => {
    const scope = new Scope('test')
    const { signal } = scope
    let seen: boolean | undefined
    scope.defer(() => {
      seen = signal.aborted
    })
    expect(signal.aborted).toBe(false)
    await scope.close()
    expect(seen).toBe(true)
  })

  it('KN-05 a signal first asked for while the scope closes, or later, is aborted already', async () => {
    const scope = new Scope('test')
    let during: boolean | undefined
    scope.defer(() => {
      during = scope.signal.aborted
    })
    await scope.close()
    expect([during, scope.signal.aborted]).toEqual([true, true])
    expect(scope.signal.reason).toMatchObject({ code: 'SCOPE_CLOSED' })
  })

  it('KN-05 child scopes, and theirs, close before the undos of their parent begin', async () => {
    const scope = new Scope('test')
    const log: string[] = []
    const gate = new Gate()
    const child = scope.child('child')
    const grandchild = child.child('grandchild')
    child.defer(() => {
      log.push('child')
    })
    grandchild.defer(async () => {
      await gate.pass()
      log.push('grandchild')
    })
    scope.defer(() => {
      log.push('parent')
    })
    scope.child('sibling').defer(() => {
      log.push('sibling')
    })
    const closing = scope.close()
    await gate.reached
    await drained()
    expect(log).toEqual(['sibling'])
    gate.open()
    await closing
    expect(log).toEqual(['sibling', 'grandchild', 'child', 'parent'])
  })

  it('KN-05 the signals of children abort with that of their parent, before its own undos', async () => {
    const scope = new Scope('test')
    const signals = [scope.signal, scope.child('one').signal, scope.child('two').child('three').signal]
    let seen: boolean[] = []
    scope.defer(() => {
      seen = signals.map((signal) => signal.aborted)
    })
    await scope.close()
    expect(seen).toEqual([true, true, true])
  })

  it('KN-05 a child that closes by itself leaves its parent open and is not closed again', async () => {
    const scope = new Scope('test')
    const child = scope.child('child')
    let runs = 0
    child.defer(() => {
      runs++
    })
    await child.close()
    expect([runs, scope.closed, scope.signal.aborted]).toEqual([1, false, false])
    await scope.close()
    expect(runs).toBe(1)
  })

  it('KN-05 a parent waits for a child that was already closing', async () => {
    const scope = new Scope('test')
    const child = scope.child('child')
    const gate = new Gate()
    const log: string[] = []
    child.defer(async () => {
      await gate.pass()
      log.push('child')
    })
    scope.defer(() => {
      log.push('parent')
    })
    const one = child.close()
    await gate.reached
    const both = Promise.all([one, scope.close()])
    await drained()
    expect(log).toEqual([])
    gate.open()
    await both
    expect(log).toEqual(['child', 'parent'])
  })
})
