import type { Notice } from './session.ts'
import { droppedNotice } from './text.ts'

const CAPACITY = 100

/** Notices that wait for their session's next opportunity. Holds 100; beyond that the oldest go, and the next drain says how many. */
export class NoticeQueue {
  #notices: Notice[] = []
  #dropped = 0

  push(notice: Notice): 'queued' {
    this.#notices.push(Object.freeze({ source: notice.source, text: notice.text, summary: notice.summary }))
    if (this.#notices.length > CAPACITY) {
      this.#notices.shift()
      this.#dropped++
    }
    return 'queued'
  }

  /** Each notice once, in order. If some were dropped since the last drain, a notice of their number comes first. */
  drain(): readonly Notice[] {
    const drained = this.#dropped > 0 ? [droppedNotice(this.#dropped), ...this.#notices] : this.#notices
    this.#notices = []
    this.#dropped = 0
    return Object.freeze(drained)
  }
}
