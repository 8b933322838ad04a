import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'

/** Nothing here is paged, so this server has given out no cursor; an empty one asks for the beginning. @throws McpError Invalid params, as the protocol wants for one that is unknown */
export function refuseCursor(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined && params.cursor !== '')
    throw new McpError(ErrorCode.InvalidParams, 'Invalid params: params.cursor: unknown; the list is one page')
}
