import { Connection } from './connection.ts'
import { divert } from './divert.ts'
import { type LineLimits, LineTransport } from './line-transport.ts'
import type { World } from './world.ts'

/** The client that started this process. */
export interface Stdio {
  readonly connection: Connection
  readonly transport: LineTransport
}

/** Nothing is read before the connection is opened; from now on nothing but the protocol reaches standard output. */
export function openStdio(world: World, cwd: string, limits: LineLimits): Stdio {
  const { stdin, stdout, stderr, pid } = world
  const connection = new Connection(`mcp-${pid}`, cwd)
  const transport = new LineTransport(stdin, stdout, limits)
  const restore = divert(stdout, stderr)
  // Undone when the session has ended: that the input is closed tells the program that it may go.
  connection.scope.defer(() => {
    restore()
    stdin.destroy()
  })
  return { connection, transport }
}
