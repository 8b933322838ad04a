import { openSync } from 'node:fs'
import { capability, definePlugin, Kernel } from '@tenon/kernel'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { quiet } from './quiet.ts'
import { unhandledDuring } from './unhandled.ts'

const trap = { get: () => throwing('a trap') }

function throwing(what: string): never {
  throw new Error(what)
}

class Unreadable extends Error {
  override get message(): string {
    return throwing('the getter of a message')
  }
}

const hostile: [string, () => unknown][] = [
  ['an error whose message throws', () => new Unreadable()],
  ['a proxy of an error', () => new Proxy(new Error('x'), trap)],
  ['a proxy of an object', () => new Proxy({}, trap)],
  ['a revoked proxy', revoked],
  [
    'an error with a property that throws',
    () => Object.defineProperty(new Error('readable'), 'response', { enumerable: true, get: () => throwing('the getter of a property') }),
  ],
  ['an object without a prototype', () => Object.create(null) as unknown],
]

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** Writes for real, so that an error is looked at from all sides. */
const writing = { logger: pino({ level: 'error' }, pino.destination('/dev/null')) }

describe('what is thrown and cannot be read', () => {
  it.each(hostile)('KN-31 %s: the row fails, or its undo does, others come up and go down, and the kernel closes', async (_, make) => {
    const unhandled = await unhandledDuring(async () => {
      const kernel = new Kernel(writing)
      const undone: string[] = []
      const rows = [
        kernel.load(definePlugin({ name: 'at-once', activate: () => throwAny(make()) })),
        kernel.load(definePlugin({ name: 'later', activate: () => Promise.reject(make()) })),
      ]
      const undo = definePlugin({
        name: 'undo',
        activate(scope) {
          scope.defer(() => void undone.push('first'))
          scope.defer(() => throwAny(make()))
          scope.defer(() => Promise.reject(make()))
        },
      })
      const other = kernel.load(undo)
      const last = kernel.load(definePlugin({ name: 'last', activate: () => undefined }))
      await last.ready()
      for (const row of rows) await expect(row.ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
      await other.ready()
      await other.unload()
      expect(undone).toEqual(['first'])
      await kernel.close()
      expect([...rows, last].map(({ phase }) => phase)).toEqual(['unloaded', 'unloaded', 'unloaded'])
    })
    expect(unhandled).toEqual([])
  })

  it('KN-31 what is told of an error that cannot be written is its message, without it', async () => {
    const lines: string[] = []
    const kernel = new Kernel({ logger: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }) })
    const error = Object.defineProperty(new Error('readable'), 'response', { enumerable: true, get: () => throwing('a getter') })
    await expect(kernel.load(definePlugin({ name: 'a', activate: () => throwAny(error) })).ready()).rejects.toThrow('readable')
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['row "a": activation failed: readable'])
    await kernel.close()
  })
})

describe('a log that cannot be written', () => {
  it.runIf(process.platform === 'linux')('KN-31 on a full disk, stops no undo and no close', async () => {
    const full = pino({ level: 'error' }, pino.destination({ dest: openSync('/dev/full', 'w'), sync: true }))
    const kernel = new Kernel({ logger: full })
    const undone: string[] = []
    const failing = definePlugin({ name: 'failing', activate: () => throwing('at once') })
    kernel.load(definePlugin({ name: 'a', activate: (scope) => scope.defer(() => void undone.push('a')) }))
    const b = definePlugin({
      name: 'b',
      activate(scope) {
        scope.defer(() => void undone.push('b'))
        scope.defer(() => throwing('an undo'))
      },
    })
    kernel.load(b)
    await expect(kernel.load(failing).ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
    await kernel.close()
    expect(undone).toEqual(['b', 'a'])
  })
})

describe('a listener that fails at the news of a fault', () => {
  it.each(['throws', 'rejects'])('KN-34 (it %s) is reported once for each, not told of its own, and stops nothing', async (how) => {
    const kernel = new Kernel(quiet)
    let heard = 0
    const listener = definePlugin({
      name: 'listener',
      activate(scope) {
        kernel.events.on(scope, ({ type }) => {
          if (type !== 'fault') return undefined
          heard++
          const error = new Error('of the listener')
          if (how === 'throws') throw error
          return Promise.reject(error) as unknown as undefined
        })
      },
    })
    const own = kernel.load(listener)
    const row = kernel.load(definePlugin({ name: 'b', activate: (scope) => scope.defer(() => throwing('an undo')) }))
    await kernel.settled()
    await row.unload()
    await drained()
    expect(heard).toBe(1)
    expect(kernel.inspect().rows.find(({ id }) => id === own.id)?.faults).toEqual([
      { what: 'event listener', code: 'Error', message: 'of the listener' },
    ])
    expect(own.phase).toBe('active')
    await kernel.close()
  })
})

describe('an edit that is no edit', () => {
  const Value = capability<number>('value')

  it('KN-27 one that goes on after it returned is refused, and what it does later as well', async () => {
    await using kernel = new Kernel(quiet)
    let late: unknown
    const unhandled = await unhandledDuring(async () => {
      const report = kernel.transaction((async (tx) => {
        await drained(1)
        try {
          tx.load(definePlugin({ name: 'a', provides: [Value], activate: (scope) => scope.provide(Value, 1) }))
        } catch (error) {
          late = error
          throw error
        }
      }) as Parameters<Kernel['transaction']>[0])
      await expect(report).rejects.toMatchObject({ code: 'SCOPE_CLOSED', message: expect.stringContaining('without awaiting') })
    })
    expect([unhandled, kernel.inspect().rows]).toEqual([[], []])
    expect(late).toMatchObject({ code: 'SCOPE_CLOSED' })
  })

  it('KN-27 one that throws what is no error is refused with one', async () => {
    await using kernel = new Kernel(quiet)
    const refusal = await kernel.transaction(() => throwAny('a text')).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Error)
    expect(refusal).toMatchObject({ message: 'a text', cause: 'a text' })
  })
})

function throwAny(thrown: unknown): never {
  throw thrown
}
