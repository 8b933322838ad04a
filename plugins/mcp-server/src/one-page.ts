import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'

/** Nothing here is paged, so this server has given out no cursor. @throws McpError Invalid params, as the protocol wants for one that is unknown */
export function refuseCursor(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined) throw new McpError(ErrorCode.InvalidParams, 'Invalid params: params.cursor: unknown; the list is one page')
}
