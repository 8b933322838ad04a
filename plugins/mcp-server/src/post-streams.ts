import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { idOf } from './incoming.ts'

/** The requests that came with one POST. */
interface Post {
  readonly unanswered: Set<RequestId>
  hasCancelled: boolean
}

/**
 * What each POST still waits for. The SDK ends the stream of its response when every request in it is answered, and one that was cancelled never is:
 * then nobody would end it, and a client that cancels much would leave connections behind until none is left for anybody.
 */
export class PostStreams {
  readonly #posts = new WeakMap<object, Post>()
  readonly #byRequest = new Map<RequestId, Post>()
  readonly #end: (id: RequestId) => void

  /** @param end ends the stream on which the answer to a request would come */
  constructor(end: (id: RequestId) => void) {
    this.#end = end
  }

  /** An id in what was posted that belongs to a request without an answer: the SDK would answer both on the stream of the later one. */
  reused(posted: unknown): RequestId | undefined {
    const requests = [posted].flat().filter((message) => typeof message === 'object' && message !== null && 'method' in message)
    return requests.map(idOf).find((id) => id !== null && this.#byRequest.has(id)) ?? undefined
  }

  /** `post` is the same object for all that came together. */
  received(message: JSONRPCMessage, post: object): void {
    if (!('method' in message)) return
    if ('id' in message) {
      const own = this.#posts.get(post) ?? { unanswered: new Set<RequestId>(), hasCancelled: false }
      this.#posts.set(post, own)
      own.unanswered.add(message.id)
      this.#byRequest.set(message.id, own)
    } else if (message.method === 'notifications/cancelled') this.#settle(message.params?.requestId as RequestId, true)
  }

  answered(id: RequestId): void {
    this.#settle(id, false)
  }

  #settle(id: RequestId, isCancelled: boolean): void {
    const post = this.#byRequest.get(id)
    if (post === undefined) return
    this.#byRequest.delete(id)
    post.unanswered.delete(id)
    post.hasCancelled ||= isCancelled
    if (post.unanswered.size === 0 && post.hasCancelled) this.#end(id)
  }
}
