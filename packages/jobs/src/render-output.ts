import type { JobRead, OutputChunk } from './output.ts'
import { markers } from './text.ts'

/**
 * The output of a read as a model sees it, without the status line; '' if there is nothing new. Each marker is on a line of its own; a
 * newline is put in only where the text before lacks one. The first channel has no heading, each other one that has text does.
 */
export function renderJobOutput(read: JobRead): string {
  const { job, chunks, skipped, unread } = read
  let text = skipped > 0 ? `${markers.skipped(skipped)}\n` : ''
  const channels = [...new Set([...Object.keys(job.output), ...chunks.map(({ channel }) => channel)])]
  for (const [index, channel] of channels.entries()) {
    const own = chunks.filter((chunk) => chunk.channel === channel)
    const output = own.map((chunk) => chunk.text).join('')
    if (output !== '') text = index === 0 ? text + output : `${line(text, markers.channel(channel))}\n${output}`
    const failure = own.find(({ error }) => error !== undefined)?.error
    if (failure !== undefined) text = line(text, markers.unreadable(failure))
  }
  if (chunks.some(({ dropped }) => dropped > 0)) text = line(text, markers.dropped(spillPaths(read)))
  if (unread > 0) text = line(text, markers.more(unread))
  return text
}

/** Files that still hold what was dropped. */
function spillPaths({ job, chunks }: JobRead): readonly string[] {
  const lossy = new Set(chunks.filter(({ dropped }: OutputChunk) => dropped > 0).map(({ channel }) => channel))
  return [...lossy].flatMap((channel) => job.output[channel]?.spillPath ?? [])
}

function line(text: string, marker: string): string {
  return text === '' || text.endsWith('\n') ? text + marker : `${text}\n${marker}`
}
