/** Every word of the registry that reaches a model or a person. */
export const text = {
  closed: 'job registry closed',
  unknown: (id: unknown): string => `unknown job ${named(id)}`,
  foreign: (id: string): string => `job ${id} belongs to another session`,
  running: (id: string): string => `job ${id} is still running`,
  waitAborted: 'wait aborted',
  noController: 'background jobs unavailable: no job controller serves this session',
  sessionClosed: (id: string): string => `session "${id}" is closed`,
  detachedLimit: (limit: number): string =>
    `background job limit reached for this session (limit: ${limit}); wait for one to finish or stop one with job_kill`,
  totalLimit: (limit: number): string => `job limit reached for this session (limit: ${limit})`,
  invalid: (field: string, problem: string): string => `invalid job ${field}: ${problem}`,
  invalidTimeout: (given: unknown): string => `invalid wait timeout: expected an integer from 0 to 2147483647, got ${shown(given)}`,
  invalidOffset: (channel: string, given: unknown): string => `invalid output offset: ${named(channel)}=${shown(given)}`,
  cancelFailed: (id: string, message: string): string => `job ${id} could not be stopped: ${message}`,
  didNotStop: 'did not stop; work may be orphaned',
  oddSizes: 'its reader gave no valid sizes',
  oddRead: 'its reader gave no valid text with offsets',
  invalidOutcome: 'the producer gave no valid outcome',
  unprintable: '<unprintable thrown value>',
  sessionClosing: 'session closed',
  /** Where whoever stops a job gives no reason. */
  stopped: { model: 'stopped with job_kill', call: 'tool call aborted', human: 'cancelled by the user', host: 'stopped by the host' },
} as const

const PLAIN = /^[A-Za-z0-9-]{1,64}$/

/** An id a model made up may be anything: what does not look like one is quoted, escaped and cut. */
function named(id: unknown): string {
  return typeof id === 'string' && PLAIN.test(id) ? id : shown(id)
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value)
  return typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined ? String(value) : typeof value
}
