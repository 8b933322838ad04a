import { type ErrorCode, McpError, type ReadResourceResult, type Resource } from '@modelcontextprotocol/sdk/types.js'
import { type JobId, type Jobs, type JobView, renderJobOutput } from '@tenon/jobs'
import type { Session } from '@tenon/session'

export const JOBS_URI = 'tenon://jobs'
export const OUTPUT_TEMPLATE = 'tenon://jobs/{id}/output'

/** Newest bytes of each channel that a resource shows. */
const CHANNEL_BYTES = 262_144

/** Of the protocol: what was asked for is not there. */
const NOT_FOUND = -32_002 as ErrorCode

export function outputUri(id: JobId): string {
  return `tenon://jobs/${encodeURIComponent(id)}/output`
}

/** Id of the job whose output it is. */
export function jobOf(uri: string): JobId | undefined {
  const [, id] = /^tenon:\/\/jobs\/([^/]+)\/output$/.exec(uri) ?? []
  try {
    return id === undefined ? undefined : decodeURIComponent(id)
  } catch {
    return undefined
  }
}

/** Without a registry there is none. */
export function jobResources(jobs: Jobs | undefined, session: Session): Resource[] {
  if (jobs === undefined) return []
  const list = { uri: JOBS_URI, name: 'jobs', title: 'Background jobs', description: 'Jobs of this session.', mimeType: 'application/json' }
  const outputs = jobs
    .list(session)
    .map(({ id, label }) => ({ uri: outputUri(id), name: id, title: `Output of ${id}: ${label}`, mimeType: 'text/plain' }))
  return [list, ...outputs]
}

/** @throws McpError for what is not there, or another session's */
export function readJobResource(jobs: Jobs | undefined, session: Session, uri: string): ReadResourceResult {
  const { registry, job } = find(jobs, session, uri)
  if (job === undefined) {
    const list = { jobs: registry.list(session).map(entry) }
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(list, undefined, 2) }] }
  }
  const offsets = Object.fromEntries(Object.entries(job.output).map(([channel, { size }]) => [channel, Math.max(0, size - CHANNEL_BYTES)]))
  const read = registry.readAt(job.id, offsets, session, CHANNEL_BYTES * Math.max(1, Object.keys(offsets).length))
  const skipped = Object.values(offsets).reduce((sum, offset) => sum + offset, 0)
  return { contents: [{ uri, mimeType: 'text/plain', text: renderJobOutput({ ...read, skipped }) }] }
}

/** The job, or none for the list of all. @throws McpError */
export function find(jobs: Jobs | undefined, session: Session, uri: string): { readonly registry: Jobs; readonly job?: JobView } {
  const id = jobOf(uri)
  if (jobs === undefined || (id === undefined && uri !== JOBS_URI)) throw new McpError(NOT_FOUND, `Resource not found: ${uri}`, { uri })
  if (id === undefined) return { registry: jobs }
  try {
    return { registry: jobs, job: jobs.get(id, session) }
  } catch (error) {
    throw new McpError(NOT_FOUND, `Resource not found: ${(error as Error).message}`, { uri })
  }
}

function entry({ id, kind, label, status, attachment, detail, startedAt, finishedAt, durationMs }: JobView): object {
  return {
    id,
    kind,
    label,
    status,
    attachment,
    detail,
    startedAt,
    ...(finishedAt !== undefined && { finishedAt }),
    durationMs,
    output: outputUri(id),
  }
}
