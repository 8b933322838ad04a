import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Logger } from '@tenon/kernel'
import type { McpServerConfig } from './config.ts'
import type { Connection } from './connection.ts'

/** What the live activation does for connections. */
export interface Attendant {
  /** Its id. */
  readonly row: string
  readonly config: McpServerConfig
  readonly log: Logger
  /** Working directory of a session that opens now. */
  readonly cwd: string
  /** With the handlers of this activation, and instructions; not connected yet. */
  serverFor(connection: Connection): Promise<Server>
}

/** Where clients come in. Kept by the row: clients stay connected while activations come and go. */
export interface Endpoint {
  readonly transport: McpServerConfig['transport']
  /** By id. */
  readonly connections: ReadonlyMap<string, Connection>
  /** What clients say from now on waits for the next activation. */
  hold(): void | Promise<void>
  /** Ends every session. */
  close(): Promise<void>
}
