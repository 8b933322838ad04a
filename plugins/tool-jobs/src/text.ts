import { type JobStatus, jobMarkers } from '@tenon/jobs'

/** Every word of the job tools and their notices that a model reads. */
export const text = {
  output: {
    description:
      'Read output of a background job. Each call returns what is new since the last one, then a status line. Set wait to block until the job ends, or until to block until a line appears.',
    jobId: 'Id of the job, as given when it was started.',
    wait: 'Wait for the job to end before reading. The wait ends early at timeout_ms; the job keeps running.',
    timeoutMs: (defaultMs: number, maxMs: number): string => `Longest wait in milliseconds. Default ${defaultMs}, at most ${maxMs}.`,
    until: 'Regular expression. The wait also ends when a new output line matches it. Implies wait.',
    tail: 'Return only the last N lines and skip older unread output.',
  },
  list: {
    description: 'List your background jobs: id, kind, status, age, first line of the command.',
  },
  kill: {
    description: 'Stop a background job and everything it started. Returns at once; you get a notice only if it does not stop.',
    reason: 'Why; shown to whoever waits for the job.',
    defaultReason: 'stopped with job_kill',
    requested: (id: string): string => `requested cancellation of job ${id}`,
    finished: (id: string, status: string): string => `job ${id} had already finished ${status}`,
  },
  section:
    'Keep the id of a background job; job_list shows it again. You are notified when a job ends, so do not poll in a loop and do not sleep: use job_output with wait or until, and only when you cannot go on without it. Read the results you rely on before your final answer. Stop jobs you no longer need with job_kill.',

  ...jobMarkers,
  nothingNew: '(no new output)',
  matched: (line: string): string => `[matched: ${line}]`,
  noMatchWithin: (ms: number): string => `[no match within ${ms}ms]`,
  noMatchBeforeEnd: '[no match before the job ended]',
  status: (status: JobStatus, outcome: string | undefined): string =>
    outcome === undefined ? `[status: ${status}]` : `[status: ${status}, ${outcome}]`,

  row: (id: string, kind: string, status: JobStatus, age: string, label: string): string => `${id} [${kind}] ${status} (${age}) — ${label}`,
  notShown: (count: number): string => `[${count} more finished jobs not shown]`,
  noJobs: '(no background jobs)',

  notice: (id: string, kind: string, label: string, status: string): string =>
    `background job ${id} (${kind}: ${label}) finished ${status}. Read its output with job_output.`,
  lastOutput: '[last output]',
  noticeTruncated: '[notice truncated]',
  shortNotice: (id: string): string => `job ${id} done; read it with job_output.`,
  moreFinished: (count: number): string => `[${count} more jobs finished; see job_list]`,
  summary: (id: string, status: JobStatus, label: string): string => `${id} ${status}: ${label}`,
  summaryOfMany: (ids: readonly string[]): string => `${ids.length} background jobs finished: ${ids.join(', ')}`,

  invalidUntil: (problem: string): string => `invalid until: ${problem}`,
  emptyUntil: 'expected a pattern that is not empty',
  longUntil: (most: number): string => `longer than ${most} characters`,
  untilNeedsWait: 'until needs wait',
  untilTooSlow: 'until took too long to match',
  aborted: 'tool call aborted',
  truncated: '[result truncated]',
} as const
