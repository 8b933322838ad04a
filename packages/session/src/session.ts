import type { Scope } from '@tenon/kernel'

declare const brand: unique symbol

/** 1 to 128 characters, no control characters. Only `openSession` makes one. */
export type SessionId = string & { readonly [brand]: 'SessionId' }

/**
 * Whoever a model works for: a connection, the console, a run of an agent loop. Owns calls and jobs. Identity is the instance: a new
 * session with an old id is a stranger to what the old one left.
 */
export interface Session {
  readonly id: SessionId
  /** Absolute, fixed; need not exist. */
  readonly cwd: string
  /** Open = the session is live; its calls and jobs end with it. */
  readonly scope: Scope
  /**
   * Gives the owner's model a message. `delivered`: it is part of the running turn or starts one; `queued`: it waits for the next
   * opportunity (an MCP host appends it as a text block to the session's next tool result). The host decides, and bounds consecutive
   * turns that notices start (default 3, refilled by user input). Must not throw. Called by the author of a notice only.
   */
  deliver(notice: Notice): 'delivered' | 'queued'
}

export interface Notice {
  /** Who says it: the name of a plugin. */
  readonly source: string
  /** What the model reads. */
  readonly text: string
  /** One line for people, at most 120 characters. */
  readonly summary: string
}
