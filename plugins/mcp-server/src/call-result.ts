import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import type { Content, ToolResult } from '@tenon/tools'

/** In `_meta` of an error result: its code. `structuredContent` is not the place, a client checks that against the tool's schema. */
export const CODE_KEY = 'tenon/code'

export function callResult(result: ToolResult): CallToolResult {
  const content = result.content.map(block)
  if (result.isError) return { content, isError: true, _meta: { [CODE_KEY]: result.code } }
  const { value } = result
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { content }
  return { content, structuredContent: value as Record<string, unknown> }
}

function block(content: Content): ContentBlock {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text }
    case 'image':
      return { type: 'image', data: content.data, mimeType: content.mimeType }
    case 'link':
      return { type: 'resource_link', uri: content.uri, name: content.title ?? content.uri }
    default:
      return content satisfies never
  }
}
