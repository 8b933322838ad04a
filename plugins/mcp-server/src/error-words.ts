import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

/** Before the words of an error that was thrown with its code: the code stands beside them, and clients put the same before it once more. */
const CODE = /^MCP error -?\d+: /

/** Before issues, for one method. */
const CALL = /^Invalid tools\/call request: /

/**
 * The SDK answers parameters that do not fit with the issues of zod, as JSON, and for most methods with Internal error. JSON-RPC says
 * Invalid params for that, and a client that repeats what failed internally would repeat it for ever.
 */
export function sayPlainly(answer: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in answer)) return answer
  const message = answer.error.message.replace(CODE, '')
  const issues = issuesIn(message.replace(CALL, ''))
  if (issues === undefined) return { ...answer, error: { ...answer.error, message } }
  const told = issues.map(({ path, message: text }) => `${path.join('.')}: ${text}`).join('; ')
  return { ...answer, error: { code: ErrorCode.InvalidParams, message: `Invalid params: ${told}` } }
}

function issuesIn(text: string): z.output<typeof Issues> | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    return Issues.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
