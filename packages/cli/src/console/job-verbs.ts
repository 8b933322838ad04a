import { Jobs, type JobView } from '@tenon/jobs'
import { ExitCode } from '../exit-codes.ts'
import { followJob, jobStatus } from '../follow-job.ts'
import { UsageError } from '../usage-error.ts'
import type { Verb, VerbContext } from './verbs.ts'

/** The commands that look after jobs, in the name of the person at the console: whoever owns them. */
export const jobVerbs: readonly Verb[] = [
  { name: 'jobs', usage: '', help: 'the jobs there are, and how they are', run: (context) => list(context) },
  { name: 'follow', usage: 'ID', help: 'show the output of a job from its beginning to its end', completes: 'job', run: follow },
  { name: 'stop', usage: 'ID [REASON]', help: 'stop a job and everything it started', completes: 'job', run: stop },
]

function list(context: VerbContext): number {
  const jobs = registry(context).list('host')
  if (jobs.length === 0) context.screen.print('no jobs')
  for (const job of jobs) context.screen.printUntrusted(`${job.id}  ${jobStatus(job)}  ${age(job)}  ${job.owner}  ${job.label}`)
  return ExitCode.ok
}

async function follow(context: VerbContext, rest: string): Promise<number> {
  const { screen, signal } = context
  const [id] = idAnd(rest, 'follow ID')
  await followJob(registry(context), id, { signal, write: (text) => screen.write(text) })
  return signal.aborted ? ExitCode.failed : ExitCode.ok
}

function stop(context: VerbContext, rest: string): number {
  const [id, reason] = idAnd(rest, 'stop ID [REASON]')
  const outcome = registry(context).kill(id, 'host', { by: 'human', text: reason === '' ? 'cancelled by the user' : reason })
  context.screen.printUntrusted(outcome === 'requested' ? `stopping ${id}` : `${id} had already finished`)
  return ExitCode.ok
}

function registry({ runtime }: VerbContext): Jobs {
  const jobs = runtime.get(Jobs)
  if (jobs === undefined) throw new UsageError('there are no jobs here: the composition has no row that provides "jobs"')
  return jobs
}

function idAnd(rest: string, usage: string): readonly [id: string, rest: string] {
  const [, id, more = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? []
  if (id === undefined) throw new UsageError(`write ${usage}; \`jobs\` lists them`)
  return [id, more]
}

function age({ durationMs }: JobView): string {
  const seconds = Math.floor(durationMs / 1_000)
  if (seconds < 60) return `${seconds}s`
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)]
  return hours === 0 ? `${minutes}m${String(seconds % 60).padStart(2, '0')}s` : `${hours}h${String(minutes % 60).padStart(2, '0')}m`
}
