import type { JobRead, Jobs, JobView } from '@tenon/jobs'
import { bytesOf, lastBytes } from './clip.ts'
import { text } from './text.ts'

const PREVIEW_BYTES = 400
/** A line that is cut off in front needs to be seen. */
const WINDOW_BYTES = PREVIEW_BYTES + 4

/** The last whole lines of what the model has not read, without reading them in its place. */
export function previewOf(jobs: Jobs, job: JobView): string {
  const session = jobs.ownerOf(job.id)
  const { from } = jobs.readAt(job.id, 'unread', session)
  const start = Object.fromEntries(Object.entries(job.output).map(([name, { size }]) => [name, Math.max(from[name] ?? 0, size - WINDOW_BYTES)]))
  const read = jobs.readAt(job.id, start, session, 2 * WINDOW_BYTES * Math.max(1, Object.keys(start).length))
  return lastLines(joined(read, from), PREVIEW_BYTES)
}

/** The end of each channel, standard error under its marker. What began before the window is left out up to its first line. */
function joined({ chunks }: JobRead, unreadFrom: Readonly<Record<string, number>>): string {
  let all = ''
  for (const { channel, at, text: said } of chunks) {
    const isCut = at > (unreadFrom[channel] ?? 0)
    const firstLine = said.indexOf('\n') + 1
    const shown = isCut && firstLine > 0 && firstLine < said.length ? said.slice(firstLine) : said
    if (shown === '') continue
    if (all !== '' && !all.endsWith('\n')) all += '\n'
    all += channel === 'stderr' ? `${text.channel(channel)}\n${shown}` : shown
  }
  return all.trimEnd()
}

/** A last line that is too long for itself is cut in front. */
function lastLines(all: string, most: number): string {
  if (bytesOf(all) <= most) return all
  const end = lastBytes(all, most)
  const firstLine = end.indexOf('\n') + 1
  return firstLine > 0 && all[all.length - end.length - 1] !== '\n' ? end.slice(firstLine) : end
}
