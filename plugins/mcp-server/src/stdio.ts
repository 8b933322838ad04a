import type { McpServerConfig } from './config.ts'
import { Connection } from './connection.ts'
import { divert } from './divert.ts'
import type { Attendant, Endpoint } from './endpoint.ts'
import { LineTransport } from './line-transport.ts'
import type { World } from './world.ts'

/** The client that started this process. Nothing but the protocol reaches standard output. */
export class StdioEndpoint implements Endpoint {
  readonly connections: ReadonlyMap<string, Connection>
  readonly #connection: Connection
  readonly #transport: LineTransport
  #attendant: Attendant | undefined

  constructor({ stdin, stdout, stderr, pid }: World, cwd: string, config: McpServerConfig) {
    this.#connection = new Connection(`mcp-${pid}`, cwd)
    this.#transport = new LineTransport(stdin, stdout, config)
    this.connections = new Map([[this.#connection.id, this.#connection]])
    const restore = divert(stdout, stderr)
    // Undone when the session has ended: that the input is closed tells the program that it may go.
    this.#connection.scope.defer(() => {
      restore()
      stdin.destroy()
    })
  }

  async admit(attendant: Attendant): Promise<void> {
    this.#attendant = attendant
    this.#transport.limits = attendant.config
    this.#transport.resume()
    if (this.#connection.server !== undefined) return
    const server = await attendant.serverFor(this.#connection)
    if (this.#attendant === attendant) await this.#connection.open(server, this.#transport)
  }

  /** What the client says waits in the pipe. If it has said all, who leaves now waits for the answers: the host may be about to close. */
  hold(): Promise<void> {
    this.#attendant = undefined
    this.#transport.pause()
    return this.#transport.drained()
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}
