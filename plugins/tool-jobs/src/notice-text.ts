import type { JobView } from '@tenon/jobs'
import { bytesOf, clipCharacters } from './clip.ts'
import { statusOf } from './status.ts'
import { text } from './text.ts'

export interface FinishedJob {
  readonly job: JobView
  /** The last lines of what the model has not read. */
  readonly preview: string
}

const SHOWN_JOBS = 8
const MESSAGE_BYTES = 8_192
const SUMMARY_CHARACTERS = 120
const BETWEEN = '\n\n'

/** One message for all of a session's jobs that have finished. */
export function noticeText(finished: readonly FinishedJob[]): string {
  const shown = finished.slice(0, SHOWN_JOBS)
  const rest = finished.length > shown.length ? text.moreFinished(finished.length - shown.length) : undefined
  let left = MESSAGE_BYTES - (rest === undefined ? 0 : bytesOf(rest) + BETWEEN.length)
  // Each gets what it needs, but for the shortest form of those that follow.
  let reserved = shown.reduce((sum, { job }) => sum + bytesOf(text.shortNotice(job.id)) + BETWEEN.length, 0)
  const parts = shown.map(({ job, preview }) => {
    reserved -= bytesOf(text.shortNotice(job.id)) + BETWEEN.length
    const part = partOf(job, preview, Math.min(job.replyLimitBytes, left - reserved - BETWEEN.length))
    left -= bytesOf(part) + BETWEEN.length
    return part
  })
  return [...parts, ...(rest === undefined ? [] : [rest])].join(BETWEEN)
}

/** One line for people. */
export function noticeSummary(finished: readonly FinishedJob[]): string {
  const [first] = finished
  if (first !== undefined && finished.length === 1) {
    return clipCharacters(text.summary(first.job.id, first.job.status, first.job.label), SUMMARY_CHARACTERS)
  }
  return clipCharacters(text.summaryOfMany(finished.map(({ job }) => job.id)), SUMMARY_CHARACTERS)
}

/** The longest form that fits. */
function partOf(job: JobView, preview: string, most: number): string {
  const notice = text.notice(job.id, job.kind, job.label, statusOf(job))
  const whole = preview === '' ? notice : `${notice}\n${text.lastOutput}\n${preview}`
  if (bytesOf(whole) <= most) return whole
  const withoutPreview = `${notice}\n${text.noticeTruncated}`
  return bytesOf(withoutPreview) <= most ? withoutPreview : text.shortNotice(job.id)
}
