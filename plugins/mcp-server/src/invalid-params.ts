import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

/**
 * The SDK answers parameters that do not fit with Internal error, and the issues of zod as its message. JSON-RPC says Invalid params for
 * that, and a client that repeats what failed internally would repeat it for ever. Anything else stays as it is.
 */
export function sayInvalidParams(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== ErrorCode.InternalError) return message
  const issues = issuesIn(message.error.message)
  if (issues === undefined) return message
  const told = issues.map(({ path, message: text }) => `${path.join('.')}: ${text}`).join('; ')
  return { ...message, error: { code: ErrorCode.InvalidParams, message: `Invalid params: ${told}` } }
}

function issuesIn(text: string): z.output<typeof Issues> | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    return Issues.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
