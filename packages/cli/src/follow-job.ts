import type { JobId, Jobs, JobView, Offsets, OutputChunk } from '@tenon/jobs'
import { PlainTextStream, plainText } from './terminal-text.ts'

export interface FollowOptions {
  readonly signal: AbortSignal
  readonly write: (text: string) => void
  /** By default its beginning. */
  readonly from?: Offsets
}

/** Writes the output of a job to its end, and how it ended. Gives the settled job; undefined if it was left before. */
export async function followJob(jobs: Jobs, id: JobId, { signal, write, from = {} }: FollowOptions): Promise<JobView | undefined> {
  const channels = new Map<string, PlainTextStream>()
  const show = ({ channel, text, dropped, error }: OutputChunk): void => {
    if (dropped > 0) write(`\n[${dropped} bytes are gone]\n`)
    if (error !== undefined) write(`\n[output could not be read: ${plainText(error)}]\n`)
    const stream = channels.get(channel) ?? new PlainTextStream()
    channels.set(channel, stream)
    write(stream.push(text))
  }
  let settled: JobView | undefined
  for await (const event of jobs.follow(id, { caller: 'host', from, signal })) {
    if (event.type === 'output') for (const chunk of event.chunks) show(chunk)
    if (event.type === 'end') {
      for (const stream of channels.values()) write(stream.end())
      write(`${plainText(`[${event.job.id}: ${jobStatus(event.job)}]`)}\n`)
      settled = event.job
    }
  }
  return settled
}

export function jobStatus({ status: word, attachment, detail }: JobView): string {
  const live = word === 'running' || word === 'stopping'
  return `${word}${live && attachment === 'foreground' ? ' (foreground)' : ''}${detail.outcome === undefined ? '' : `, ${detail.outcome}`}`
}
