import type { Content, ToolResult } from '@tenon/tools'

/** A tool's content as text for a person. Not yet free of control sequences. */
export function contentText(content: readonly Content[]): string {
  return content.map(blockText).join('\n')
}

function blockText(block: Content): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
      return `[image: ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes]`
    case 'link':
      return block.title === undefined ? block.uri : `${block.title}: ${block.uri}`
  }
}

/** The structured value, or what is known of the error. */
export function resultJson(result: ToolResult): unknown {
  if (!result.isError) return result.value
  const { code, message, details } = result
  return { error: { code, message, ...(details === undefined ? {} : { details }) } }
}
