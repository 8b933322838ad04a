import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { Scope } from '@tenon/kernel'
import { type NoticeQueue, openSession, type Session } from '@tenon/session'
import type { Tools } from '@tenon/tools'

/** One client and its session. Outlives the activations of the row; each of them lays its own handlers over `server`. */
export class Connection {
  readonly scope: Scope
  readonly session: Session & { readonly notices: NoticeQueue }
  /** Calls whose result takes along the notices that wait. */
  readonly calls = new Set<RequestId>()
  server: Server | undefined
  /** What the client was last told of the tools. */
  told: ReturnType<Tools['view']> | undefined
  #closing: Promise<void> | undefined

  constructor(id: string, cwd: string) {
    this.scope = new Scope(`connection ${id}`)
    this.session = openSession(this.scope, {
      id,
      cwd,
      deliver: (notice) => {
        this.session.notices.push(notice)
        this.tell((server) => server.sendLoggingMessage({ level: 'notice', logger: notice.source, data: notice.text }))
        return 'queued'
      },
    })
  }

  /** A notification, if the client is there to hear it. */
  tell(send: (server: Server) => Promise<void>): void {
    const { server } = this
    if (server?.getClientVersion() === undefined) return
    send(server).catch((error: unknown) => server.onerror?.(error as Error))
  }

  async open(server: Server, transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(this.#withNotices(message), options)
    this.server = server
    server.onclose = () => void this.close()
    await server.connect(transport)
  }

  /** Ends calls and jobs; resolves when they have ended. */
  close(): Promise<void> {
    this.#closing ??= Promise.resolve().then(async () => {
      await this.server?.close()
      await this.scope.close()
    })
    return this.#closing
  }

  /** In the moment the result is written: a call that is cancelled before takes none, and none is written twice. */
  #withNotices(message: JSONRPCMessage): JSONRPCMessage {
    if ('method' in message || message.id === undefined || !this.calls.delete(message.id) || !('result' in message)) return message
    const { content } = message.result
    if (!Array.isArray(content)) return message
    const notices = this.session.notices.drain().map(({ text }) => ({ type: 'text', text }))
    return notices.length === 0 ? message : { ...message, result: { ...message.result, content: [...content, ...notices] } }
  }
}
