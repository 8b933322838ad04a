import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { FrameReader } from './frames.ts'
import { type Greeting, PROTOCOL_VERSION } from './messages.ts'

/** A greeting is no longer than this. */
const GREETING_BYTES = 1_024

/** What the address of a socket can hold where it is shortest (macOS: 104 bytes with its end). The system cuts off the rest, without a word. */
const ADDRESS_BYTES = 103

/** Whoever has shown the token. */
export interface Guest {
  readonly greeting: Greeting
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
    this.guest = new Promise((resolve, reject) => {
      server.on('connection', (socket) => this.#receive(socket, token, resolve))
      // Out of descriptors, for instance.
      server.on('error', reject)
    })
    // Who opened it may have gone by then.
    this.guest.catch(() => undefined)
  }

  /** @throws what listen throws, and for a path that is too long */
  static async open(directory: string, name: string, token: string): Promise<Reception> {
    const path = join(directory, name)
    if (Buffer.byteLength(path) > ADDRESS_BYTES)
      throw new Error(`${path} is too long for a socket, which has ${ADDRESS_BYTES} bytes at most: set spillDirectory to a shorter path`)
    const server = createServer()
    const reception = new Reception(server, token)
    try {
      await once(server.listen(path), 'listening')
      chmodSync(path, 0o600)
    } catch (error) {
      reception.close()
      throw error
    }
    server.unref()
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
      const greeting = greetingIn(greetings, chunk, token)
      if (greeting === 'refused') socket.destroy()
      if (greeting === 'refused' || greeting === undefined) return
      socket.off('data', hear)
      this.#visitors.delete(socket)
      this.close()
      letIn({ greeting, socket, reader: new FrameReader() })
    }
    socket.on('data', hear)
  }
}

/** Undefined until all of it is there. */
function greetingIn(greetings: FrameReader, chunk: Buffer, token: string): Greeting | 'refused' | undefined {
  try {
    const [said, ...more] = greetings.push(chunk)
    if (said === undefined) return undefined
    // It is answered before it says more.
    return isWelcome(said, token) && more.length === 0 ? said : 'refused'
  } catch {
    return 'refused'
  }
}

function isWelcome(said: unknown, token: string): said is Greeting {
  const { type, version, token: shown } = (said ?? {}) as Partial<Greeting>
  if (type !== 'hello' || version !== PROTOCOL_VERSION || typeof shown !== 'string') return false
  const [one, other] = [Buffer.from(shown), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}
