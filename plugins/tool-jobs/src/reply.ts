import type { JobRead, JobView, OutputChunk } from '@tenon/jobs'
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
  const errors = new Map<OutputChunk, string>()
  const dropped = room.take(droppedLine(read))
  for (const chunk of chunks) if (chunk.error !== undefined) errors.set(chunk, room.take(text.unreadable(chunk.error)) ?? '')
  const until = room.take(untilLine(context))
  const passed = room.take(skipped > 0 ? text.skipped(skipped) : undefined)

  const reply = new Reply()
  reply.line(passed)
  reply.output(chunks, errors)
  reply.line(dropped)
  if (reply.isEmpty) reply.line(text.nothingNew)
  reply.line(unread > 0 ? text.more(unread) : undefined)
  reply.line(until)
  return reply.end(shortStatus(job))
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

/** What is left of the limit. */
class Room {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** The line as far as there is room for it, with its bracket closed. */
  take(line: string | undefined): string | undefined {
    if (line === undefined || this.#left < Math.min(bytesOf(line), LEAST_LINE_BYTES) + 1) return undefined
    const taken = bytesOf(line) + 1 <= this.#left ? line : `${clipBytes(line.slice(0, -1), this.#left - 2)}]`
    this.#left -= bytesOf(taken) + 1
    return taken
  }
}

class Reply {
  #text = ''

  get isEmpty(): boolean {
    return this.#text === ''
  }

  /** On a line of its own. */
  line(line: string | undefined): void {
    if (line === undefined || line === '') return
    this.#onNewLine()
    this.#text += `${line}\n`
  }

  /** The first channel stands for itself, every other one, and standard error in any case, under its name. */
  output(chunks: readonly OutputChunk[], errors: ReadonlyMap<OutputChunk, string>): void {
    const isShown = ({ text: said, error }: OutputChunk): boolean => said !== '' || error !== undefined
    const channels = new Set(chunks.filter(isShown).map(({ channel }) => channel))
    let isFirst = true
    for (const channel of channels) {
      if (!isFirst || channel === 'stderr') this.line(text.channel(channel))
      isFirst = false
      for (const chunk of chunks) {
        if (chunk.channel !== channel) continue
        this.#text += chunk.text
        this.line(errors.get(chunk))
      }
    }
  }

  end(status: string): string {
    this.#onNewLine()
    return `${this.#text}${status}`
  }

  #onNewLine(): void {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#text += '\n'
  }
}
