import type { IncomingMessage, ServerResponse } from 'node:http'
import cors from 'cors'

/** For how long a browser need not ask again, in seconds: an origin that is taken out is refused by the server all the same. */
const MAX_AGE_S = 600

const OPTIONS: cors.CorsOptions = {
  methods: ['GET', 'POST', 'DELETE'],
  allowedHeaders: ['authorization', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
  exposedHeaders: ['Mcp-Session-Id', 'WWW-Authenticate'],
  maxAge: MAX_AGE_S,
  // An OPTIONS that is no preflight needs the token.
  preflightContinue: true,
}

/** Lets a page of one of the origins read the answer, whatever that will be: a browser gives it to no page otherwise. */
export function shareWithPages(request: IncomingMessage, response: ServerResponse, allowedOrigins: readonly string[]): void {
  const { origin } = request.headers
  if (origin === undefined || !allowedOrigins.includes(origin)) return
  // As a list: a string by itself would be sent as it is, and "*" is everybody.
  cors({ ...OPTIONS, origin: [origin] })(request, response, () => undefined)
}

/** What a browser asks before it sends the request of a page. It never has a token: https://fetch.spec.whatwg.org/#cors-preflight-fetch */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
