import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema, type RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { MessageLine } from './message-lines.ts'

/** A message, or the answer to what is none. */
export type Incoming = { readonly bytes: number } & ({ readonly message: JSONRPCMessage } | { readonly refusal: LineRefusal })

export interface LineRefusal {
  readonly jsonrpc: '2.0'
  readonly id: RequestId | null
  readonly error: { readonly code: ErrorCode; readonly message: string }
}

/** What the shortest of lines takes while it waits. */
const LEAST_BYTES = 128

export function incoming(line: MessageLine, maxMessageBytes: number): Incoming {
  const bytes = LEAST_BYTES + (line.type === 'line' ? Buffer.byteLength(line.text) : 0)
  const none = (code: ErrorCode, message: string, id: RequestId | null = null): Incoming => ({ bytes, refusal: refusal(code, message, id) })
  if (line.type === 'too-long') {
    return none(ErrorCode.InvalidRequest, `a message has at most ${maxMessageBytes} bytes, this one has ${line.bytes}`)
  }
  if (line.type === 'not-utf8') return none(ErrorCode.ParseError, 'Parse error: the line is not UTF-8')
  let value: unknown
  try {
    value = JSON.parse(line.text)
  } catch (error) {
    return none(ErrorCode.ParseError, `Parse error: ${(error as Error).message}`)
  }
  if (Array.isArray(value)) return none(ErrorCode.InvalidRequest, 'Invalid Request: batches are not served, send one message per line')
  return { bytes, ...checkMessage(value) }
}

/** The message that a value is, or the answer to what is none. */
export function checkMessage(value: unknown): { readonly message: JSONRPCMessage } | { readonly refusal: LineRefusal } {
  const { data: message } = JSONRPCMessageSchema.safeParse(value)
  if (message !== undefined) return { message }
  return { refusal: refusal(ErrorCode.InvalidRequest, 'Invalid Request: not a JSON-RPC 2.0 message', idOf(value)) }
}

export function refusal(code: ErrorCode, message: string, id: RequestId | null): LineRefusal {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

export function idOf(value: unknown): RequestId | null {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null
}
