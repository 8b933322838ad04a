import { CodedError } from '@tenon/kernel'

export type JobErrorCode =
  | 'JOB_UNKNOWN'
  | 'JOB_FOREIGN'
  | 'JOBS_CLOSED'
  | 'JOB_NO_CONTROLLER'
  | 'JOB_SPEC_INVALID'
  | 'JOB_SESSION_CLOSED'
  | 'JOB_LIMIT_DETACHED'
  | 'JOB_LIMIT_TOTAL'
  | 'JOB_TIMEOUT_INVALID'
  | 'JOB_WAIT_ABORTED'
  | 'JOB_CANCEL_FAILED'
  | 'JOB_RUNNING'
  | 'JOB_OFFSET_INVALID'

/** Messages name the job or the field; a model may read them. */
export class JobError extends CodedError<JobErrorCode> {}
