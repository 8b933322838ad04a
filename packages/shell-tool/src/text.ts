/** Every word a model reads of the shell tools, except what `renderResult` and the job registry say. */

export const bashWords = {
  description:
    'Run a bash command in a fresh, non-interactive shell and return its output. Nothing carries over between calls except files; standard input is empty.',
  section:
    'A bash command that failed ends with [exit code: N] or [killed by signal: NAME]; no such marker means exit code 0, for a pipeline that of its last command. [timed out after Nms] and [stopped: REASON] mean it was cut off, whatever the exit code. Use workdir, not cd in an earlier call.',
}

export const pwshWords = {
  description:
    'Run a PowerShell command in a fresh, non-interactive process and return its output. Nothing carries over between calls except files; standard input is empty.',
  section:
    'A PowerShell command that failed ends with [exit code: N] or [killed by signal: NAME]; no such marker means exit code 0. [timed out after Nms] and [stopped: REASON] mean it was cut off, whatever the exit code. On Windows a stopped command looks like a plain [exit code: 1]. Use workdir, not Set-Location in an earlier call.',
}

/** What a variant of the tool can do decides what it says. */
export interface Offers {
  readonly background: boolean
  readonly promotion: boolean
}

export function toolDescription(base: string, { background, promotion }: Offers): string {
  let description = base
  if (background) description += ' Set run_in_background for servers and long work: the call returns a job id at once.'
  if (promotion) {
    description += ' A command still running after timeoutMs is not stopped; it continues as a background job, and the result gives its id.'
  }
  return description
}

export const fields = {
  command: 'The command to run.',
  description: 'What the command does, in 5 to 10 words, for the person watching.',
  workdir: "Directory to run in; a relative path starts at the session's directory.",
  runInBackground: 'Return a job id at once instead of waiting.',
  timeoutMs({ background, promotion }: Offers): string {
    if (promotion) {
      return 'Wait this many milliseconds; a command still running then continues as a background job. Does not apply with run_in_background.'
    }
    const stops = 'Stop the command after this many milliseconds.'
    return background ? `${stops} Does not apply with run_in_background.` : stops
  },
}

export const problems = {
  blank: 'expected a non-empty string',
  notPositive: (got: string): string => `expected a positive number, got ${got}`,
  nul: 'NUL characters are not allowed',
}

export const refusals = {
  switchedOff: 'run_in_background is disabled for this deployment (enableRunInBackground: false)',
  noRegistry: 'background jobs unavailable: load plugin-jobs and plugin-tool-jobs to run commands in the background',
}

export const aborted = 'tool call aborted'
export const failedWithoutWords = 'the command failed'
export const timedOutInPreparation = 'timed out during preparation'

export function background(jobId: string, timeoutIgnored: boolean): string {
  const started = `started background job ${jobId}`
  return timeoutIgnored ? `${started}\n[timeoutMs does not apply to a background job]` : started
}

/** `output` ends with a newline, or is empty. */
export function promoted(output: string, timeoutMs: number, jobId: string): string {
  return `${output}[still running after ${timeoutMs}ms; moved to background job ${jobId}]
It keeps running and you are notified when it ends. Read newer output with job_output, stop it with job_kill.`
}

/** Outcomes of jobs, shown by the registry. */
export const outcomes = {
  exitCode: (code: number): string => `exit code: ${code}`,
  signal: (name: string): string => `signal: ${name}`,
  killedBeforeExit: 'killed before exit',
  lost: 'exit status unknown: the launcher was lost',
}
