import { Connection } from './connection.ts'
import { divert } from './divert.ts'
import type { Attendant, Endpoint } from './endpoint.ts'
import { LineTransport } from './line-transport.ts'
import type { StandardStreams } from './standard-streams.ts'

interface Client {
  readonly connection: Connection
  readonly transport: LineTransport
}

/** The client that started this process, once the program has given it to this row. Then nothing but the protocol reaches standard output. */
export class StdioEndpoint implements Endpoint {
  readonly transport = 'stdio'
  readonly connections = new Map<string, Connection>()
  readonly #pid: number
  #client: Client | undefined
  #attendant: Attendant | undefined
  #told: string | undefined
  #leaves: 'client' | 'row' = 'client'

  constructor(pid: number) {
    this.#pid = pid
  }

  /** Of the same streams every time. */
  async admit(attendant: Attendant, streams: StandardStreams): Promise<void> {
    this.#attendant = attendant
    this.#client ??= this.#take(attendant, streams)
    const { connection, transport } = this.#client
    transport.limits = attendant.config
    transport.resume()
    if (connection.server !== undefined) return
    const server = await attendant.serverFor(connection)
    if (this.#attendant === attendant && !connection.scope.closed) await connection.open(server, transport)
  }

  /** What the client says waits. If it has said all, who leaves now waits for the answers: the host may be about to close. */
  async hold(): Promise<void> {
    this.#attendant = undefined
    this.#client?.transport.pause()
    await this.#client?.transport.drained()
  }

  /** Says once, however often the row is activated, that it serves nothing. */
  explain({ log }: Attendant, what: string): void {
    if (this.#told === what) return
    this.#told = what
    log.warn(what)
  }

  async close(): Promise<void> {
    this.#leaves = 'row'
    await this.#client?.connection.close()
  }

  #take({ config, cwd }: Attendant, { process, released }: StandardStreams): Client {
    const connection = new Connection(`mcp-${this.#pid}`, cwd)
    const transport = new LineTransport(process.stdin, process.stdout, config)
    this.connections.set(connection.id, connection)
    // Before the protocol listens, too: a client may go away early.
    transport.onclose = () => void connection.close()
    const restore = divert(process.stdout, process.stderr)
    connection.scope.defer(() => {
      restore()
      released(this.#leaves)
    })
    transport.listen()
    return { connection, transport }
  }
}
