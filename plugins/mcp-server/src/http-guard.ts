import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { McpServerConfig } from './config.ts'
import { isPreflight } from './cross-origin.ts'
import type { Refusal } from './refusal.ts'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Whether a request may come in at all. A web page that somebody looks at on this machine can reach a loopback address too: it is kept out by
 * its origin, and by the name it had resolved to here (DNS rebinding).
 */
export function refusalOf(request: IncomingMessage, config: McpServerConfig, token: string): Refusal | undefined {
  const { host = '', origin, authorization = '' } = request.headers
  const hosts = [...LOOPBACK.map((name) => `${name}:${request.socket.localPort}`), ...config.allowedHosts]
  if (!hosts.includes(host.toLowerCase())) return { status: 403, message: `Forbidden: the Host ${JSON.stringify(host)} is not one of allowedHosts` }
  if (origin !== undefined && !config.allowedOrigins.includes(origin)) {
    return { status: 403, message: `Forbidden: the Origin ${JSON.stringify(origin)} is not one of allowedOrigins` }
  }
  if (isPreflight(request)) return undefined
  const given = /^Bearer +(.+)$/i.exec(authorization)?.[1] ?? ''
  if (!isEqual(given, token)) return { status: 401, message: 'Unauthorized: give the token of this server as "Authorization: Bearer TOKEN"' }
  if (request.url?.split('?')[0] !== '/mcp') return { status: 404, message: 'Not found: the endpoint is /mcp' }
  return undefined
}

/** In a time that tells nothing of either. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
