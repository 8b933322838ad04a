import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { Scope } from '@tenon/kernel'
import { type Notice, type NoticeQueue, openSession, type Session } from '@tenon/session'
import type { Tools } from '@tenon/tools'
import { sayPlainly } from './error-words.ts'
import type { SharedSession } from './shared-session.ts'

/** One client, with a session of its own or one that it shares. Outlives the activations of the row; each of them lays its own handlers over `server`. */
export class Connection {
  readonly id: string
  readonly scope: Scope
  readonly session: Session & { readonly notices: NoticeQueue }
  /** Calls whose result takes along the notices that wait. */
  readonly calls = new Set<RequestId>()
  server: Server | undefined
  /** What the client was last told of the tools. */
  told: ReturnType<Tools['view']> | undefined
  /** URIs of the resources it was last told of; undefined if it has not asked. */
  resources: string | undefined
  /** URIs of resources whose changes it is told of. */
  readonly subscriptions = new Set<string>()
  #closing: Promise<void> | undefined

  constructor(id: string, cwd: string, shared?: SharedSession) {
    this.id = id
    this.scope = new Scope(`connection ${id}`)
    shared?.join(this)
    this.session = shared?.session ?? this.#ownSession(cwd)
  }

  /** At once; the model reads the notice with a result. */
  message({ source, text }: Notice): void {
    // Over HTTP the SDK keeps the level that a client has set by the id of its session.
    this.tell((server) => server.sendLoggingMessage({ level: 'notice', logger: source, data: text }, server.transport?.sessionId))
  }

  /** A notification, if the client is there to hear it. */
  tell(send: (server: Server) => Promise<void>): void {
    const { server } = this
    if (server?.getClientVersion() === undefined) return
    send(server).catch((error: unknown) => server.onerror?.(error as Error))
  }

  async open(server: Server, transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => this.#send(sayPlainly(message), (told) => send(told, options))
    this.server = server
    server.onclose = () => void this.close()
    await server.connect(transport)
  }

  /** Ends its calls, and the jobs of a session of its own; resolves when they have ended. */
  close(): Promise<void> {
    this.#closing ??= Promise.resolve().then(async () => {
      await this.server?.close()
      await this.scope.close()
    })
    return this.#closing
  }

  #ownSession(cwd: string): Session & { readonly notices: NoticeQueue } {
    const session = openSession(this.scope, {
      id: this.id,
      cwd,
      deliver: (notice) => {
        this.message(notice)
        return session.notices.push(notice)
      },
    })
    return session
  }

  /**
   * A result takes along the notices that wait, in the moment it is written: a call that is cancelled before takes none, none is written
   * twice, and what could not be written waits again.
   */
  async #send(message: JSONRPCMessage, send: (message: JSONRPCMessage) => Promise<void>): Promise<void> {
    if ('method' in message || message.id === undefined || !this.calls.delete(message.id) || !('result' in message)) return send(message)
    const { content } = message.result
    const notices = Array.isArray(content) ? this.session.notices.drain() : []
    if (!Array.isArray(content) || notices.length === 0) return send(message)
    try {
      await send({ ...message, result: { ...message.result, content: [...content, ...notices.map(({ text }) => ({ type: 'text', text }))] } })
    } catch (error) {
      for (const notice of notices) this.session.notices.push(notice)
      throw error
    }
  }
}
