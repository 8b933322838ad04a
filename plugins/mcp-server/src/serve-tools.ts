import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { type CallToolRequest, ListToolsRequestSchema, type ServerNotification } from '@modelcontextprotocol/sdk/types.js'
import type { Reconciling, Scope } from '@tenon/kernel'
import type { Tools } from '@tenon/tools'
import { z } from 'zod'
import { callResult } from './call-result.ts'
import type { Connection } from './connection.ts'
import { refuseCursor } from './one-page.ts'
import { describeTool } from './tool-description.ts'

/** Longest wait of a list for rows in transition, in milliseconds: as long as the registry makes a call wait. */
const RECONCILE_MS = 5_000

/** The server itself checks the parameters of this method, and says Invalid params; the SDK's schema would make it an internal error. */
const CallToolSchema = z.object({ method: z.literal('tools/call'), params: z.unknown().optional() })

export interface ToolService {
  readonly tools: Tools
  readonly reconciling: Reconciling
  now(): number
}

/** Lays the handlers of this activation over the server. Calls that run go on with those they began with. */
export function serveTools(server: Server, connection: Connection, { tools, reconciling, now }: ToolService): void {
  const { session, calls } = connection
  server.setRequestHandler(ListToolsRequestSchema, async ({ params }, { signal }) => {
    refuseCursor(params)
    await rest(reconciling, signal)
    connection.told = tools.view()
    return { tools: connection.told.tools.map(describeTool) }
  })
  server.setRequestHandler(CallToolSchema, async (call, { signal, requestId, sendNotification }) => {
    const params = call.params as CallToolRequest['params']
    const token = params._meta?.progressToken
    const request = { name: params.name, arguments: params.arguments ?? {}, session, signal }
    const onProgress = token === undefined ? undefined : progress(token, sendNotification, now)
    calls.add(requestId)
    signal.addEventListener('abort', () => calls.delete(requestId), { once: true })
    return callResult(await tools.execute(onProgress === undefined ? request : { ...request, onProgress }))
  })
}

/** One notification for each change the registry tells of, unless the client has seen it already. */
export function announceTools(scope: Scope, connections: ReadonlyMap<string, Connection>, tools: Tools): void {
  tools.changed.on(scope, () => {
    const view = tools.view()
    for (const connection of connections.values()) {
      if (connection.told === view) continue
      connection.told = view
      connection.tell((server) => server.sendToolListChanged())
    }
  })
}

/** The newest line of output, and the seconds since the call began: those grow, as the protocol wants. */
function progress(progressToken: string | number, send: (notification: ServerNotification) => Promise<void>, now: () => number) {
  const begun = now()
  let last = 0
  return (message: string): void => {
    last = Math.max(Math.round(now() - begun) / 1_000, last + 0.001)
    // A client that has gone needs no progress; that it has gone is noticed elsewhere.
    send({ method: 'notifications/progress', params: { progressToken, progress: last, message } }).catch(() => undefined)
  }
}

async function rest(reconciling: Reconciling, signal: AbortSignal): Promise<void> {
  if (reconciling.pending().length === 0) return
  await reconciling.settled(AbortSignal.any([signal, AbortSignal.timeout(RECONCILE_MS)])).catch(() => undefined)
}
