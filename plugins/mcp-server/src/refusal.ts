import type { ServerResponse } from 'node:http'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'

/** Of a request that does not reach the protocol. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 413 | 500 | 503
  readonly message: string
  /** Of JSON-RPC; by default one of those that are the server's own. */
  readonly code?: number
  /** Of the request, where it is known. */
  readonly id?: RequestId | null
}

export function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, message, code = status === 404 ? -32_001 : -32_000, id = null } = refusal
  const headers = { 'content-type': 'application/json', ...(status === 401 && { 'www-authenticate': 'Bearer' }) }
  response.writeHead(status, headers).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
}
