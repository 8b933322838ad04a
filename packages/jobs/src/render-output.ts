import type { JobRead, OutputChunk } from './output.ts'
import { jobMarkers } from './text.ts'

/**
 * The output of a read as a model sees it, without the status line; '' if there is nothing new. Each marker is on a line of its own; a
 * newline is put in only where the text before lacks one. The first channel has no heading, each other one that has text or cannot be
 * read does, and standard error always.
 * @param fit what is shown of a marker that is neither a heading nor `more`; undefined leaves it out
 */
export function renderJobOutput(read: JobRead, fit: (marker: string) => string | undefined = (marker) => marker): string {
  const { job, chunks, skipped, unread } = read
  let text = ''
  let isMarker = false
  const add = (piece: string | undefined, isOutput = false): void => {
    if (piece === undefined || piece === '') return
    if (!(isOutput && !isMarker) && text !== '' && !text.endsWith('\n')) text += '\n'
    text += piece
    isMarker = !isOutput
  }
  if (skipped > 0) add(fit(jobMarkers.skipped(skipped)))
  const channels = [...new Set([...Object.keys(job.output), ...chunks.map(({ channel }) => channel)])]
  for (const [index, channel] of channels.entries()) {
    const own = chunks.filter((chunk) => chunk.channel === channel)
    const output = own.map((chunk) => chunk.text).join('')
    const failure = own.find(({ error }) => error !== undefined)?.error
    if ((index > 0 || channel === 'stderr') && (output !== '' || failure !== undefined)) add(jobMarkers.channel(channel))
    add(output, true)
    if (failure !== undefined) add(fit(jobMarkers.unreadable(failure)))
  }
  if (chunks.some(({ dropped }) => dropped > 0)) add(fit(jobMarkers.dropped(spillPaths(read))))
  if (unread > 0) add(jobMarkers.more(unread))
  return text
}

/** Files that still hold what was dropped. */
function spillPaths({ job, chunks }: JobRead): readonly string[] {
  const lossy = new Set(chunks.filter(({ dropped }: OutputChunk) => dropped > 0).map(({ channel }) => channel))
  return [...lossy].flatMap((channel) => job.output[channel]?.spillPath ?? [])
}
