import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import type { McpServerConfig } from './config.ts'
import { Connection } from './connection.ts'
import { isPreflight, shareWithPages } from './cross-origin.ts'
import type { Attendant, Endpoint } from './endpoint.ts'
import { McpServerError } from './errors.ts'
import { refusalOf } from './http-guard.ts'
import { PostStreams } from './post-streams.ts'
import { postedMessage } from './posted-message.ts'
import { refuse } from './refusal.ts'
import { SharedSession } from './shared-session.ts'
import type { World } from './world.ts'

interface Client {
  readonly connection: Connection
  readonly transport: StreamableHTTPServerTransport
  readonly streams: PostStreams
  /** Requests and streams that are open. */
  open: number
  idle: NodeJS.Timeout | undefined
}

/** Streamable HTTP: a connection for each client that initializes. */
export class HttpEndpoint implements Endpoint {
  readonly transport = 'http'
  readonly connections = new Map<string, Connection>()
  readonly #clients = new Map<string, Client>()
  readonly #world: World
  readonly #madeToken: string
  #listening: { readonly server: Server; readonly host: string; readonly port: number } | undefined
  #attendant: Attendant | undefined
  /** That connections join which open now. */
  #shared: SharedSession | undefined
  #retiring: Promise<unknown> = Promise.resolve()
  /** Requests that came while no activation was there. */
  #waiting: (() => void)[] = []

  constructor(world: World) {
    this.#world = world
    this.#madeToken = world.randomId()
  }

  /** From now on clients are served by this activation. @throws McpServerError MCP_LISTEN */
  async admit(attendant: Attendant): Promise<void> {
    const { host, port } = attendant.config
    if (this.#listening?.host !== host || this.#listening.port !== port) await this.#move(attendant)
    this.#attendant = attendant
    if (attendant.config.jobs === 'own') {
      this.#retiring = Promise.all([this.#retiring, this.#shared?.retire()])
      this.#shared = undefined
    }
    for (const resume of this.#waiting.splice(0)) resume()
  }

  hold(): void {
    this.#attendant = undefined
  }

  async close(): Promise<void> {
    this.#listening?.server.close()
    await Promise.all([...this.connections.values()].map((connection) => connection.close()))
    await Promise.all([this.#retiring, this.#shared?.close()])
    this.#listening?.server.closeAllConnections()
  }

  /** Requests and streams that came in at the old address go on. */
  async #move({ row, config, log }: Attendant): Promise<void> {
    const { host, port, token } = config
    const before = this.#listening
    // On one port the old address may be in the way of the new one. Otherwise it stays until that is there, in case it never is.
    if (before?.port === port && port !== 0) {
      before.server.close()
      this.#listening = undefined
    }
    const server = await listen(row, config, (request, response) => this.#take(request, response))
    before?.server.close()
    this.#listening = { server, host, port }
    const address = server.address()
    const bound = typeof address === 'object' && address !== null ? address.port : port
    // The only way to hand out a token that was made here; whoever minds configures one.
    const made = token === undefined ? { token: this.#madeToken } : {}
    log.warn({ url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/mcp`, ...made }, 'serving MCP over HTTP')
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.#attended(response, async (attendant) => {
      const { config } = attendant
      shareWithPages(request, response, config.allowedOrigins)
      const refusal = refusalOf(request, config, config.token ?? this.#madeToken)
      if (refusal !== undefined) refuse(response, refusal)
      else if (isPreflight(request)) response.writeHead(204).end()
      else await this.#serve(attendant, request, response)
    })
  }

  /** At once, or when an activation is there. */
  #attended(response: ServerResponse, serve: (attendant: Attendant) => Promise<void>): void {
    const attendant = this.#attendant
    // Who left while it waited would never be seen leaving, and its session would be taken for one that is in use.
    if (response.destroyed) return
    if (attendant === undefined) {
      this.#waiting.push(() => this.#attended(response, serve))
      return
    }
    serve(attendant).catch((error: unknown) => {
      attendant.log.error({ err: error }, 'a request failed')
      if (response.headersSent) response.destroy()
      else refuse(response, { status: 500, message: 'Internal error' })
    })
  }

  async #serve({ config }: Attendant, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id']
    const client = this.#clients.get(String(id))
    if (id !== undefined && client === undefined) return refuse(response, { status: 404, message: 'Session not found' })
    if (client !== undefined) this.#occupy(client, response, config.idleMs)
    const posted = await postedMessage(request, config.maxMessageBytes)
    if (posted === undefined) return
    if ('status' in posted) return refuse(response, posted)
    const { message } = posted
    // The activation may have left while it was read.
    this.#attended(response, async (attendant) => {
      if (client === undefined) return this.#welcome(attendant, request, response, message)
      const reused = client.streams.reused(message)
      if (reused === undefined) return client.transport.handleRequest(request, response, message)
      const why = `Invalid Request: the id ${JSON.stringify(reused)} is of a request that has no answer yet`
      refuse(response, { status: 400, code: ErrorCode.InvalidRequest, message: why })
    })
  }

  /** A client without a session: if what it says is `initialize`, it gets one. */
  async #welcome(attendant: Attendant, request: IncomingMessage, response: ServerResponse, message: unknown): Promise<void> {
    const { config } = attendant
    if (needsSession(request, message)) {
      return refuse(response, { status: 400, message: 'Bad Request: the header Mcp-Session-Id is missing; only initialize comes without it' })
    }
    if (this.#clients.size >= config.maxSessions)
      return refuse(response, { status: 503, message: `there are ${config.maxSessions} sessions already` })
    const id = `mcp-${this.#world.randomId()}`
    const connection = this.#connection(id, attendant)
    let isInitialized = false
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => {
        isInitialized = true
      },
    })
    const client: Client = { connection, transport, streams: endCancelled(transport), open: 0, idle: undefined }
    this.connections.set(id, connection)
    this.#clients.set(id, client)
    connection.scope.defer(() => {
      clearTimeout(client.idle)
      this.connections.delete(id)
      this.#clients.delete(id)
    })
    this.#occupy(client, response, config.idleMs)
    try {
      await connection.open(await attendant.serverFor(connection), transport as Transport)
    } catch (error) {
      await connection.close()
      // The activation left before the request was read: the next one takes it.
      if (this.#attendant === attendant) throw error
      this.#attended(response, (next) => this.#welcome(next, request, response, message))
      return
    }
    try {
      await transport.handleRequest(request, response, message)
    } finally {
      if (!isInitialized) await connection.close()
    }
  }

  #connection(id: string, { config, cwd }: Attendant): Connection {
    if (config.jobs === 'own') return new Connection(id, cwd)
    this.#shared ??= new SharedSession(`mcp-${this.#world.randomId()}`, cwd)
    return new Connection(id, cwd, this.#shared)
  }

  /** A client that vanishes says nothing: what tells is that nothing of it is open any more. */
  #occupy(client: Client, response: ServerResponse, idleMs: number): void {
    client.open++
    clearTimeout(client.idle)
    response.once('close', () => {
      client.open--
      if (client.open > 0 || client.connection.scope.closed) return
      client.idle = setTimeout(() => void client.connection.close(), idleMs)
    })
  }
}

/** The SDK would say that the server is not initialized, which helps nobody who has initialized and lost a header. */
function needsSession({ method }: IncomingMessage, message: unknown): boolean {
  if (method !== 'POST') return method === 'GET' || method === 'DELETE'
  return ![message].flat().some((each) => (each as { readonly method?: unknown }).method === 'initialize')
}

/** Before the protocol is there, which calls what it finds before itself. */
function endCancelled(transport: StreamableHTTPServerTransport): PostStreams {
  const streams = new PostStreams((id) => transport.closeSSEStream(id))
  transport.onmessage = (message, extra) => {
    if (extra?.requestInfo !== undefined) streams.received(message, extra.requestInfo)
  }
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    try {
      await send(message, options)
    } finally {
      // Also if its stream is gone.
      if (!('method' in message) && message.id !== undefined) streams.answered(message.id)
    }
  }
  return streams
}

async function listen(
  row: string,
  { host, port }: McpServerConfig,
  take: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const server = createServer(take)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const fix = `set host or port, or leave the row out with --disable ${row}`
    throw new McpServerError('MCP_LISTEN', `cannot listen on ${host}:${port}: ${(error as Error).message}; ${fix}`, { cause: error })
  }
  return server
}
