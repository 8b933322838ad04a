import type { JobRead, OutputChunk } from './output.ts'

/**
 * The output of a read as a model sees it, without the status line; '' if there is nothing new. Each marker is on a line of its own; a
 * newline is put in only where the text before lacks one. The first channel has no heading, each other one that has text does.
 */
export function renderJobOutput(read: JobRead): string {
  const { job, chunks, skipped, unread } = read
  let text = skipped > 0 ? `[skipped ${skipped} bytes of unread output]\n` : ''
  const channels = [...new Set([...Object.keys(job.output), ...chunks.map(({ channel }) => channel)])]
  for (const [index, channel] of channels.entries()) {
    const own = chunks.filter((chunk) => chunk.channel === channel)
    const output = own.map((chunk) => chunk.text).join('')
    if (output !== '') text = index === 0 ? text + output : `${line(text, `[${channel}]`)}\n${output}`
    const failure = own.find(({ error }) => error !== undefined)?.error
    if (failure !== undefined) text = line(text, `[output could not be read: ${failure}]`)
  }
  if (chunks.some(({ dropped }) => dropped > 0)) text = line(text, `[some output was dropped from memory; full output: ${spillPaths(read)}]`)
  if (unread > 0) text = line(text, `[more output: ${unread} bytes unread]`)
  return text
}

/** Files that still hold what was dropped, or that there is none. */
function spillPaths({ job, chunks }: JobRead): string {
  const lossy = new Set(chunks.filter(({ dropped }: OutputChunk) => dropped > 0).map(({ channel }) => channel))
  const paths = [...lossy].flatMap((channel) => job.output[channel]?.spillPath ?? [])
  return paths.length > 0 ? paths.join(', ') : '(unavailable)'
}

function line(text: string, marker: string): string {
  return text === '' || text.endsWith('\n') ? text + marker : `${text}\n${marker}`
}
