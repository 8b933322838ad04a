import type { Json, JsonObject } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { Content } from './content.ts'

/** What a tool's body is told of the call it serves. */
export interface ToolCall {
  readonly id: string
  readonly tool: string
  readonly session: Session
  /** Id of the call this one was made for. */
  readonly parent?: string
  /** Fuses the caller's, the session's and the runtime's. */
  readonly signal: AbortSignal
  /** There only if the caller asked. Ignored after the end of the call. */
  progress?(message: string): void
}

/** Made by a host; `arguments` is whatever the model sent, and undefined counts as `{}`. */
export interface ToolRequest {
  readonly name: string
  readonly arguments: unknown
  readonly session: Session
  readonly signal: AbortSignal
  /** Default: given by the registry. */
  readonly id?: string
  readonly parent?: string
  onProgress?(message: string): void
}

/** Frozen. Of a failed call `content` is one text block, `Error: MESSAGE`, unless a policy replaced it. */
export type ToolResult = {
  readonly callId: string
  readonly tool: string
  readonly durationMs: number
  readonly content: readonly Content[]
} & (
  | { readonly isError: false; readonly value: Json }
  /** `code` is a ToolErrorCode, or that of the coded error the body threw. `details` are for hosts and logs, not for the model. */
  | { readonly isError: true; readonly code: string; readonly message: string; readonly details?: Json }
)

/** What policies and observers see of a call: its arguments as the model sent them, frozen. */
export interface CallView {
  readonly id: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly session: Session
  readonly signal: AbortSignal
  readonly parent?: string
}

/** Every call gives one `finished`; `started` precedes it if the call got as far as its policies. */
export type CallEvent =
  | { readonly type: 'started'; readonly call: CallView }
  | { readonly type: 'finished'; readonly call: CallView; readonly result: ToolResult }
