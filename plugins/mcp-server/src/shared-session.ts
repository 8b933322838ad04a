import { Scope } from '@tenon/kernel'
import { type NoticeQueue, openSession, type Session } from '@tenon/session'
import type { Connection } from './connection.ts'

/** One session for several connections: what they start outlives each of them. Notices reach all as messages, and the next result of any. */
export class SharedSession {
  readonly session: Session & { readonly notices: NoticeQueue }
  readonly #scope: Scope
  readonly #members = new Set<Connection>()
  #isRetired = false

  constructor(id: string, cwd: string) {
    this.#scope = new Scope(`session ${id}`)
    this.session = openSession(this.#scope, {
      id,
      cwd,
      deliver: (notice) => {
        for (const connection of this.#members) connection.message(notice)
        return this.session.notices.push(notice)
      },
    })
  }

  /** Until the connection ends. */
  join(connection: Connection): void {
    this.#members.add(connection)
    connection.scope.defer(async () => {
      this.#members.delete(connection)
      await this.#closeIfLeft()
    })
  }

  /** Nobody joins any more: it ends with the last connection that is still there. */
  async retire(): Promise<void> {
    this.#isRetired = true
    await this.#closeIfLeft()
  }

  close(): Promise<void> {
    return this.#scope.close()
  }

  async #closeIfLeft(): Promise<void> {
    if (this.#isRetired && this.#members.size === 0) await this.close()
  }
}
