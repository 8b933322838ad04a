import { capability, type Emitter, type Scope } from '@tenon/kernel'
import type { z } from 'zod'
import type { CallEvent, ToolRequest, ToolResult } from './call.ts'
import type { Middleware } from './middleware.ts'
import type { JsonSchema, RawTool, Tool, ToolAnnotations } from './tool.ts'

/** What a model is told of a tool. Frozen. */
export interface ToolView {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
}

/** What `view()` gives now, compared with what was announced before. */
export interface ToolsChange {
  readonly epoch: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly replaced: readonly string[]
}

/**
 * One catalogue of what a model may call, one guarded path for every call. Registrations with one name stack: the newest live one is
 * visible. Survives the reload of its own plugin: epoch, listeners and calls in flight stay.
 */
export interface Tools {
  /** Plugins. @throws ToolError TOOL_INVALID (names tool and field), KernelError SCOPE_CLOSED */
  register<I extends z.ZodObject, O extends z.ZodType>(scope: Scope, tool: Tool<I, O>): void
  register(scope: Scope, tool: RawTool): void
  /** Plugins. Counts for calls that begin after it. @throws ToolError TOOL_INVALID, KernelError SCOPE_CLOSED */
  use(scope: Scope, middleware: Middleware): void
  get(name: string): ToolView | undefined
  /** Sorted by code unit; the same frozen object until the epoch changes. An epoch names a content: equal definitions keep it. */
  view(): { readonly epoch: number; readonly tools: readonly ToolView[] }
  /** Hosts. Never rejects for a fault of tool, policy or model; a TypeError only for a request without session or signal. */
  execute(request: ToolRequest): Promise<ToolResult>
  /** At most once per tick, and held while rows are in transition. */
  readonly changed: Emitter<ToolsChange>
  readonly calls: Emitter<CallEvent>
}
export const Tools = capability<Tools>('tools')
