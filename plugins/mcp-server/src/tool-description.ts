import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Json, JsonObject } from '@tenon/kernel'
import type { ToolView } from '@tenon/tools'

/** As the protocol has it. */
export function describeTool({ name, description, inputSchema, outputSchema, annotations = {} }: ToolView): Tool {
  const { title, readOnly, destructive, idempotent } = annotations
  const hints = {
    ...(title !== undefined && { title }),
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
  }
  return {
    name,
    description,
    inputSchema: ofObjects(inputSchema),
    // The protocol knows structured results that are objects only; a client that sees a schema insists on one.
    ...(outputSchema !== undefined && takesOnlyObjects(outputSchema) && { outputSchema: ofObjects(outputSchema) }),
    ...(Object.keys(hints).length > 0 && { annotations: hints }),
  }
}

/** The protocol wants the type said at the top, which a union of objects does not do by itself. */
function ofObjects(schema: JsonObject): Tool['inputSchema'] {
  return { ...schema, type: 'object' } as Tool['inputSchema']
}

function takesOnlyObjects(schema: Json | undefined): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  if ((schema as JsonObject).type !== undefined) return (schema as JsonObject).type === 'object'
  const { anyOf, oneOf, allOf } = schema as JsonObject
  for (const branches of [anyOf, oneOf]) {
    if (Array.isArray(branches) && branches.length > 0 && branches.every((branch: Json) => takesOnlyObjects(branch))) return true
  }
  return Array.isArray(allOf) && allOf.some((part: Json) => takesOnlyObjects(part))
}
