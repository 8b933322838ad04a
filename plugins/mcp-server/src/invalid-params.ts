import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

/**
 * The SDK answers parameters that do not fit with the issues of zod, as JSON, and for most methods with Internal error. JSON-RPC says
 * Invalid params for that, and a client that repeats what failed internally would repeat it for ever. Anything else stays as it is.
 */
export function sayInvalidParams(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const issues = issuesIn(message.error.message)
  if (issues === undefined) return message
  const told = issues.map(({ path, message: text }) => `${path.join('.')}: ${text}`).join('; ')
  return { ...message, error: { code: ErrorCode.InvalidParams, message: `Invalid params: ${told}` } }
}

/** For `tools/call` they come after words of the SDK. */
const SAID_BEFORE = /^MCP error -32602: Invalid tools\/call request: /

function issuesIn(text: string): z.output<typeof Issues> | undefined {
  const json = text.replace(SAID_BEFORE, '')
  if (!json.startsWith('[')) return undefined
  try {
    return Issues.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}
