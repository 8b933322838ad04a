import { once } from 'node:events'
import { watch } from 'node:fs'
import { open, opendir, readFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { definePlugin, Emitter, Scope } from '@tenon/kernel'
import { harness, providing } from '@tenon/testkit'
import { describe, expect, it } from 'vitest'
import { closingAfter, leftBehind } from './closing-after.ts'

describe('a harness fails on', () => {
  it('a timer that nobody cleared, and names the line that made it', async () => {
    let timer: NodeJS.Timeout | undefined
    const error = await closingAfter(() => {
      timer = setTimeout(() => undefined, 60_000)
    })
    clearTimeout(timer)
    expect(error).toEqual(leftBehind('timer'))
    expect((error as Error).message).toMatch(/timer: a timer \(made at .*harness\.leftovers\.spec\.ts:\d+/)
  })

  it('an interval, and a timer that does not keep the process running', async () => {
    const timers: NodeJS.Timeout[] = []
    const error = await closingAfter(() => {
      timers.push(
        setInterval(() => undefined, 1000),
        setTimeout(() => undefined, 60_000).unref(),
      )
    })
    timers.forEach((timer) => {
      clearTimeout(timer)
    })
    expect(error).toEqual(leftBehind('timer', 'timer'))
  })

  it('a timer made late, by work that went on after the activation', async () => {
    let timer: NodeJS.Timeout | undefined
    const error = await closingAfter((scope) => {
      scope.spawn(async () => {
        await new Promise((resolve) => setImmediate(resolve))
        timer = setTimeout(() => undefined, 60_000)
      })
    })
    clearTimeout(timer)
    expect(error).toEqual(leftBehind('timer'))
  })

  it('a server that still listens', async () => {
    let server: Server | undefined
    const error = await closingAfter(async () => {
      server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
    })
    await new Promise((resolve) => server?.close(resolve))
    expect(error).toEqual(leftBehind('handle'))
    expect((error as Error).message).toContain('TCP server')
  })

  it('connections that stay open, at both ends, though the server has gone', async () => {
    const sockets: { destroy(): void }[] = []
    const error = await closingAfter(async (scope) => {
      const server = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
      scope.defer(() => void server.close())
      await once(server, 'listening')
      const address = server.address()
      const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
      sockets.push(socket)
      await Promise.all([once(socket, 'connect'), once(server, 'connection')])
    })
    for (const socket of sockets) socket.destroy()
    expect(error).toMatchObject({ code: 'LEFT_BEHIND' })
    expect((error as Error).message.match(/TCP connection/g)).toHaveLength(2)
  })

  it('a file watcher, an open file and an open directory', async () => {
    const open_: (() => unknown)[] = []
    const error = await closingAfter(async () => {
      const watcher = watch(tmpdir())
      const file = await open(import.meta.filename)
      const directory = await opendir(tmpdir())
      open_.push(
        () => watcher.close(),
        () => file.close(),
        () => directory.close(),
      )
    })
    await Promise.all(open_.map((close) => close()))
    expect(error).toMatchObject({ code: 'LEFT_BEHIND' })
    expect((error as Error).message).toContain('a file watcher')
    expect((error as Error).message).toContain('an open file')
    expect((error as Error).message).toContain('an open directory')
  })

  it('a listener of the process', async () => {
    const listener = (): void => undefined
    const error = await closingAfter(() => void process.on('SIGUSR2', listener))
    process.off('SIGUSR2', listener)
    expect((error as Error).message).toMatch(/listener: 1 more of the process event "SIGUSR2"/)
  })

  it('a listener of the kernel’s events whose scope nobody closed', async () => {
    const foreign = new Scope('foreign')
    const app = await harness([])
    app.kernel.events.on(foreign, () => undefined)
    await expect(app.close()).rejects.toEqual(leftBehind('listener'))
    await foreign.close()
  })

  it('a listener of an emitter it was asked to watch', async () => {
    const bell = new Emitter<string>()
    const foreign = new Scope('foreign')
    const app = await harness([])
    app.watch('the bell', bell)
    bell.on(foreign, () => undefined)
    const error = await app.close().catch((one: unknown) => one)
    expect((error as Error).message).toContain('1 more of the bell')
    await foreign.close()
  })

  it('an undo that throws, and one that never ends', async () => {
    const error = await closingAfter(
      (scope) => {
        scope.defer(() => new Promise(() => undefined))
        scope.defer(() => {
          throw new Error('cannot undo')
        })
      },
      { budgets: { undoMs: 20 } },
    )
    expect(error).toEqual(leftBehind('effect', 'effect'))
    expect((error as Error).message).toMatch(/undo of row "subject".*cannot undo/)
  })

  it('spawned work that does not end when it is cancelled, and a kept value that cannot be disposed of', async () => {
    const error = await closingAfter(
      (scope) => {
        scope.spawn(() => new Promise(() => undefined))
        scope.keep({ key: 'k', version: 1, create: () => 1, dispose: () => Promise.reject(new Error('stuck')) })
      },
      { budgets: { undoMs: 20 } },
    )
    expect(error).toEqual(leftBehind('effect', 'effect'))
  })

  it('a fault that no test asked for: a listener that throws, a fork body that fails', async () => {
    const bell = new Emitter<string>()
    const error = await closingAfter((scope) => {
      bell.on(scope, () => {
        throw new Error('broken listener')
      })
      scope.inject([], () => {
        bell.emit('ding')
        throw new Error('broken fork')
      })
    })
    expect(error).toEqual(leftBehind('fault', 'fault'))
  })
})

describe('a harness does not mind', () => {
  it('what was undone in time: timers, servers, listeners', async () => {
    const bell = new Emitter<string>()
    expect(
      await closingAfter(async (scope) => {
        const timer = setInterval(() => undefined, 1000)
        scope.defer(() => clearInterval(timer))
        const listener = (): void => undefined
        process.on('SIGUSR2', listener)
        scope.defer(() => void process.off('SIGUSR2', listener))
        bell.on(scope, () => undefined)
        const server = createServer().listen(0, '127.0.0.1')
        await once(server, 'listening')
        scope.defer(() => new Promise<void>((resolve) => server.close(() => resolve())))
      }),
    ).toBeUndefined()
  })

  it('files and directories that were closed again, although Node reports them later', async () => {
    expect(
      await closingAfter(async (scope) => {
        await readFile(import.meta.filename)
        for await (const _ of await opendir(tmpdir())) break
        const file = await open(import.meta.filename)
        scope.defer(() => file.close())
      }),
    ).toBeUndefined()
  })

  it('what goes within the grace', async () => {
    expect(
      await closingAfter(
        () => {
          setTimeout(() => undefined, 40)
        },
        { graceMs: 2000 },
      ),
    ).toBeUndefined()
  })

  it('faults that the test has taken', async () => {
    const bell = new Emitter<string>()
    const app = await harness([
      definePlugin({
        name: 'subject',
        activate(scope) {
          bell.on(scope, () => {
            throw new Error('as planned')
          })
        },
      }),
    ])
    bell.emit('ding')
    expect(app.takeFaults()).toEqual([{ row: 'subject', what: 'listener', error: expect.objectContaining({ message: 'as planned' }) }])
    await app.close()
  })

  it('what was there before it began', async () => {
    const timer = setTimeout(() => undefined, 60_000)
    const app = await harness([providing({ key: 'x', symbol: Symbol.for('tenon.capability.x') }, 1)])
    await app.close()
    clearTimeout(timer)
  })
})
