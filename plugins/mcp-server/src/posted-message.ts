import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import rawBody from 'raw-body'
import { checkMessage } from './incoming.ts'
import type { Refusal } from './refusal.ts'

/**
 * What a request brings, whole, or why it brings nothing; undefined if its peer has gone. Read here and not by the SDK: that puts replacement
 * characters where bytes are no UTF-8, and a command with them would be another one; and it would need a session before it reads.
 */
export async function postedMessage(request: IncomingMessage, maxBytes: number): Promise<{ readonly message: unknown } | Refusal | undefined> {
  if (request.method !== 'POST') return { message: undefined }
  let body: Buffer
  try {
    body = await rawBody(request, { length: request.headers['content-length'] ?? null, limit: maxBytes })
  } catch (error) {
    if (request.destroyed) return undefined
    // Whoever still sends would wait for it to be taken before the answer is looked at.
    request.resume()
    const { status } = error as rawBody.RawBodyError
    return status === 413 ? { status, message: `a message has at most ${maxBytes} bytes` } : { status: 400, message: (error as Error).message }
  }
  if (!isUtf8(body)) return unparsable('the message is not UTF-8')
  let message: unknown
  try {
    message = JSON.parse(body.toString('utf8')) as unknown
  } catch (error) {
    return unparsable((error as Error).message)
  }
  return faultOf(message) ?? { message }
}

/** A batch is refused as a whole. */
function faultOf(message: unknown): Refusal | undefined {
  for (const each of Array.isArray(message) ? message : [message]) {
    const checked = checkMessage(each)
    if ('refusal' in checked) return { status: 400, ...checked.refusal.error, id: each === message ? checked.refusal.id : null }
  }
  return undefined
}

function unparsable(why: string): Refusal {
  return { status: 400, code: ErrorCode.ParseError, message: `Parse error: ${why}` }
}
