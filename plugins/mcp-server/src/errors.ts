import { CodedError } from '@tenon/kernel'

export type McpServerErrorCode = 'MCP_LISTEN'

export class McpServerError extends CodedError<McpServerErrorCode> {}
