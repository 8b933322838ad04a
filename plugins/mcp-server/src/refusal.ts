import type { ServerResponse } from 'node:http'

/** Of a request that does not reach the protocol. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 413 | 500 | 503
  readonly message: string
  /** Of JSON-RPC; by default one of those that are the server's own. */
  readonly code?: number
}

export function refuse(response: ServerResponse, { status, message, code = status === 404 ? -32_001 : -32_000 }: Refusal): void {
  const headers = { 'content-type': 'application/json', ...(status === 401 && { 'www-authenticate': 'Bearer' }) }
  response.writeHead(status, headers).end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }))
}
