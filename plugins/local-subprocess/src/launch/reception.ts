import { timingSafeEqual } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { FrameReader } from './frames.ts'
import { type Greeting, PROTOCOL_VERSION } from './messages.ts'

/** A greeting is no longer than this. */
const GREETING_BYTES = 1_024

/** Whoever has shown the token. */
export interface Guest {
  readonly socket: Socket
  /** Holds what came behind the greeting. */
  readonly reader: FrameReader
}

/**
 * A socket in a directory of 0700 that lets one peer in: the first that shows the token, in a frame of its own. Whoever does anything
 * else is shown out, and nobody else notices. Nobody can knock any more once the peer is in.
 */
export class Reception {
  readonly #server: Server
  readonly #visitors = new Set<Socket>()
  readonly guest: Promise<Guest>

  private constructor(server: Server, token: string) {
    this.#server = server
    this.guest = new Promise((resolve) => {
      server.on('connection', (socket) => this.#receive(socket, token, resolve))
    })
  }

  /** @throws what listen throws: a path of more than about 100 bytes, a directory that is not writable */
  static async open(path: string, token: string): Promise<Reception> {
    const server = createServer()
    const reception = new Reception(server, token)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => resolve())
    })
    server.unref()
    chmodSync(path, 0o600)
    return reception
  }

  /** Removes the socket, and shows out whoever has not been let in. */
  close(): void {
    this.#server.close()
    for (const socket of this.#visitors) socket.destroy()
  }

  #receive(socket: Socket, token: string, letIn: (guest: Guest) => void): void {
    this.#visitors.add(socket)
    socket.unref()
    socket.on('error', () => undefined)
    socket.once('close', () => this.#visitors.delete(socket))
    const greetings = new FrameReader(GREETING_BYTES)
    const hear = (chunk: Buffer): void => {
      try {
        const [greeting, ...more] = greetings.push(chunk)
        if (greeting === undefined) return
        // It is answered before it says more.
        if (!isWelcome(greeting, token) || more.length > 0) throw new Error('not the launcher')
      } catch {
        socket.destroy()
        return
      }
      socket.off('data', hear)
      this.#visitors.delete(socket)
      this.close()
      letIn({ socket, reader: new FrameReader() })
    }
    socket.on('data', hear)
  }
}

function isWelcome(said: unknown, token: string): boolean {
  const { type, version, token: shown } = (said ?? {}) as Partial<Greeting>
  if (type !== 'hello' || version !== PROTOCOL_VERSION || typeof shown !== 'string') return false
  const [one, other] = [Buffer.from(shown), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}
