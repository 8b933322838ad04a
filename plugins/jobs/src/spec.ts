import { JobError, type JobRun, type JobSpec } from '@tenon/jobs'
import { type JobsConfig, LONGEST_TIMER_MS } from './config.ts'
import { LABEL_CHARACTERS, oneLine } from './one-line.ts'
import { text } from './text.ts'

/** A spec with everything filled in; read once. */
export interface CheckedSpec {
  readonly kind: string
  readonly label: string
  readonly detail: { readonly command?: string; readonly description?: string }
  readonly attachment: 'foreground' | 'detached'
  readonly replyLimitBytes: number
  readonly stopBudgetMs: number
}

const KIND = /^[a-z][a-z0-9-]{0,31}$/

/** @throws JobError JOB_SPEC_INVALID, by field name */
export function checkSpec(spec: JobSpec, config: JobsConfig): CheckedSpec {
  const { kind, label, attachment, detail = {}, replyLimitBytes = config.replyLimitBytes, stopBudgetMs = config.stopBudgetMs } = spec
  if (typeof kind !== 'string' || !KIND.test(kind)) refuse('kind', `expected to match ${KIND.source}`)
  const line = typeof label === 'string' ? oneLine(label, LABEL_CHARACTERS) : ''
  if (line.trim() === '') refuse('label', 'expected a text that is not blank')
  if (attachment !== 'foreground' && attachment !== 'detached') refuse('attachment', 'expected "foreground" or "detached"')
  checkInteger('replyLimitBytes', replyLimitBytes, 256, 1_000_000)
  checkInteger('stopBudgetMs', stopBudgetMs, 1, LONGEST_TIMER_MS)
  if (typeof spec.run !== 'function') refuse('run', 'expected a function')
  const command = optionalText('detail.command', detail?.command)
  const description = optionalText('detail.description', detail?.description)
  const checked = { ...(command === undefined ? {} : { command }), ...(description === undefined ? {} : { description }) }
  return { kind, label: line, detail: Object.freeze(checked), attachment, replyLimitBytes, stopBudgetMs }
}

/** @throws JobError JOB_SPEC_INVALID */
export function checkRun(run: JobRun): JobRun {
  const { cancel, done } = run ?? {}
  if (typeof cancel === 'function' && isThenable(done)) return run
  // There is no job that would hear of it: if one of them rejects later, that must not take the host with it.
  for (const refused of [run, done]) void Promise.resolve(refused).catch(() => undefined)
  if (isThenable(run)) refuse('run', 'expected it to return at once, not a promise')
  return refuse('run', `expected it to return ${typeof cancel === 'function' ? 'a promise "done"' : 'a function "cancel"'}`)
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function checkInteger(field: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return
  refuse(field, `expected an integer from ${least} to ${most}, got ${String(value)}`)
}

function optionalText(field: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return refuse(field, 'expected a text')
}

export function refuse(field: string, problem: string): never {
  throw new JobError('JOB_SPEC_INVALID', text.invalid(field, problem))
}
