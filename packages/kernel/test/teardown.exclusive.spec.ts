import { once } from 'node:events'
import { createServer } from 'node:net'
import { capability, definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { quiet } from './quiet.ts'

const Port = capability<number>('port')

/** Listens on a port, which only one can do at a time. */
function server(name: string, ports: number[]): Plugin<{ port: number; greeting: string }> {
  return definePlugin({
    name,
    provides: [Port],
    config: z.strictObject({ port: z.int(), greeting: z.string() }),
    async activate(scope) {
      const listener = createServer()
      listener.listen(scope.config.port, '127.0.0.1')
      await once(listener, 'listening')
      scope.defer(() => new Promise<void>((resolve) => listener.close(() => resolve())))
      const address = listener.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      ports.push(port)
      scope.provide(Port, port)
    },
  })
}

describe('a successor that needs an exclusive resource', () => {
  it('KN-18 activates only after its predecessor has released it: reconfigure, replace, swap and reload in one tick', async () => {
    await using kernel = new Kernel(quiet)
    const ports: number[] = []
    const row = kernel.load(server('server', ports), { port: 0, greeting: 'one' })
    await row.ready()
    const [port = 0] = ports
    await row.reconfigure({ port, greeting: 'two' })
    await row.replace(server('server', ports), { port, greeting: 'three' })
    const swapped = await kernel.transaction((tx) => {
      tx.load(server('successor', ports), { port, greeting: 'four' })
      tx.unload('server')
    })
    expect(swapped.outcome).toBe('committed')
    void kernel.row('successor')?.unload()
    const last = kernel.load(server('last', ports), { port, greeting: 'five' })
    await last.ready()
    expect(ports).toEqual([port, port, port, port, port])
    expect(kernel.get(Port)).toBe(port)
  })

  it('KN-18 finds it free again when it fails and its predecessor comes back', async () => {
    await using kernel = new Kernel(quiet)
    const ports: number[] = []
    const row = kernel.load(server('server', ports), { port: 0, greeting: 'one' })
    await row.ready()
    const [port = 0] = ports
    await row.reconfigure({ port, greeting: 'two' })
    const broken = definePlugin({
      name: 'server',
      provides: [Port],
      config: z.strictObject({ port: z.int(), greeting: z.string() }),
      async activate(scope) {
        const listener = createServer()
        listener.listen(scope.config.port, '127.0.0.1')
        await once(listener, 'listening')
        scope.defer(() => new Promise<void>((resolve) => listener.close(() => resolve())))
        throw new Error('broken after it took the port')
      },
    })
    await expect(row.replace(broken, { port, greeting: 'three' })).rejects.toMatchObject({ code: 'ROLLED_BACK' })
    expect([ports, row.phase, kernel.get(Port)]).toEqual([[port, port, port], 'active', port])
  })
})
