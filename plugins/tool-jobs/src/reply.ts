import { type JobRead, type JobView, renderJobOutput } from '@tenon/jobs'
import { bytesOf, clipBytes } from './clip.ts'
import { statusOf } from './status.ts'
import { text } from './text.ts'
import type { Waited } from './waiting.ts'

/** What was asked for, beside the output. */
export interface ReplyContext {
  /** What came of `until`: `ended` and `expired` mean that nothing matched. */
  readonly until: Waited | undefined
  readonly boundMs: number
  readonly tail: boolean
}

/** No optional line is worth showing in less. */
const LEAST_LINE_BYTES = 24
const LONGEST_COUNT = 9_007_199_254_740_991

/**
 * Most bytes of output to read, so that the reply keeps its limit. A read consumes: what does not fit would be lost.
 * @param unread the beginning of it: tells what is lost, and what cannot be read
 */
export function outputBudget(unread: JobRead, context: ReplyContext): number {
  const { job } = unread
  const limit = job.replyLimitBytes
  const faults = unread.chunks.map(({ error }) => (error === undefined ? undefined : text.unreadable(error)))
  const expected = [droppedLine(unread), ...faults, untilLine(context), context.tail ? text.skipped(LONGEST_COUNT) : undefined]
  const wanted = expected.reduce((sum, line) => sum + (line === undefined ? 0 : bytesOf(line) + 1), 0)
  return Math.max(Math.floor(limit / 4), limit - fixedBytes(job) - wanted)
}

/** The whole text of a reply: at most the limit of its job. Lines that are no output give way, the least important first. */
export function renderReply(read: JobRead, context: ReplyContext): string {
  const { job, chunks, unread, skipped } = read
  const output = chunks.reduce((sum, chunk) => sum + bytesOf(chunk.text), 0)
  const room = new Room(job.replyLimitBytes - fixedBytes(job) - output)
  room.take(droppedLine(read))
  for (const { error } of chunks) if (error !== undefined) room.take(text.unreadable(error))
  const until = room.take(untilLine(context))
  if (skipped > 0) room.take(text.skipped(skipped))

  const shown = renderJobOutput({ ...read, unread: 0 }, (marker) => room.given(marker))
  return [
    ...(shown === '' ? [text.nothingNew] : [shown.endsWith('\n') ? shown.slice(0, -1) : shown]),
    ...(unread > 0 ? [text.more(unread)] : []),
    ...(until === undefined ? [] : [until]),
    shortStatus(job),
  ].join('\n')
}

/** Of what is in every reply, or has to be in this one: the status, a marker for each channel, and what is left. */
function fixedBytes(job: JobView): number {
  const markers = Object.keys(job.output).reduce((sum, name) => sum + bytesOf(text.channel(name)) + 2, 0)
  return bytesOf(shortStatus(job)) + markers + bytesOf(text.more(LONGEST_COUNT)) + 2
}

function shortStatus(job: JobView): string {
  return statusOf(job, Math.floor(job.replyLimitBytes / 4))
}

function droppedLine({ job, chunks }: JobRead): string | undefined {
  const lost = new Set(chunks.filter(({ dropped }) => dropped > 0).map(({ channel }) => channel))
  if (lost.size === 0) return undefined
  const paths = [...lost].map((channel) => job.output[channel]?.spillPath).filter((path) => path !== undefined)
  return text.dropped(paths)
}

function untilLine({ until, boundMs }: ReplyContext): string | undefined {
  if (until === undefined) return undefined
  if (until.end === 'matched') return text.matched((until.line ?? '').replace(/\p{Cc}/gu, ' '))
  return until.end === 'expired' ? text.noMatchWithin(boundMs) : text.noMatchBeforeEnd
}

/** What is left of the limit, and what was given of it. */
class Room {
  #left: number
  readonly #given = new Map<string, string | undefined>()

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** The line as far as there is room for it, with its bracket closed. */
  take(line: string | undefined): string | undefined {
    if (line === undefined) return undefined
    const bytes = bytesOf(line) + 1
    const isWhole = bytes <= this.#left
    const taken = isWhole ? line : this.#left > LEAST_LINE_BYTES ? `${clipBytes(line.slice(0, -1), this.#left - 2)}]` : undefined
    if (taken !== undefined) this.#left -= bytesOf(taken) + 1
    this.#given.set(line, taken)
    return taken
  }

  given(line: string): string | undefined {
    return this.#given.get(line)
  }
}
