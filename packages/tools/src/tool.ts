import type { Json, JsonObject } from '@tenon/kernel'
import type { z } from 'zod'
import type { ToolCall } from './call.ts'
import type { Content } from './content.ts'

export type JsonSchema = JsonObject

/** One thing that is wrong with the arguments. */
export interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Hints for hosts, never policy. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
}

export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** `^[A-Za-z][A-Za-z0-9_-]{0,63}$` */
  readonly name: string
  /** Not blank; the model reads it. */
  readonly description: string
  /** A strict object; the model sees `z.toJSONSchema(input, { io: 'input' })`. */
  readonly input: I
  /** Checked after every success; published as JSON Schema too. */
  readonly output: O
  /** Keys a model may try although this definition does not take them: the refusal, or undefined to drop the key. */
  readonly refuses?: Readonly<Record<string, (value: Json) => string | undefined>>
  readonly annotations?: ToolAnnotations
  /** Gets the parsed input. Failures are thrown: a coded error keeps its code, anything else is TOOL_FAILED. */
  execute(input: z.output<I>, call: ToolCall): Promise<z.input<O>>
  /** Pure, synchronous, at least one block. */
  render(value: z.output<O>): readonly Content[]
}

/** A tool whose schemas are JSON Schema already, such as a bridge's. Without `validate`, arguments need only be an object. */
export interface RawTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  validate?(args: JsonObject): readonly Issue[]
  execute(args: JsonObject, call: ToolCall): Promise<Json>
  /** Default: the value as indented JSON. */
  render?(value: Json): readonly Content[]
}
