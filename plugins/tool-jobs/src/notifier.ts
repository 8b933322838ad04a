import type { Jobs, JobView } from '@tenon/jobs'
import type { PluginScope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { type FinishedJob, noticeSummary, noticeText } from './notice-text.ts'
import { previewOf } from './preview.ts'

const SOURCE = 'tool-jobs'

/** Tells each session of its finished jobs, once per tick and job, with one message for all that finished. */
export function notify(scope: PluginScope, jobs: Jobs): void {
  const { log } = scope
  let due: NodeJS.Immediate | undefined
  const schedule = (): void => {
    due ??= setImmediate(() => {
      due = undefined
      try {
        flush()
      } catch (error) {
        // Nobody is there to catch it: a registry that ends must not take the host with it.
        log.warn({ err: error }, 'notices could not be told')
      }
    })
  }
  scope.defer(() => clearImmediate(due))
  jobs.subscribe(scope, 'all', ({ type }) => {
    if (type === 'settled') schedule()
  })
  // What settled while nobody was listening.
  if (jobs.dueNotices().length > 0) schedule()

  function flush(): void {
    const bySession = new Map<Session, FinishedJob[]>()
    for (const job of jobs.dueNotices()) {
      try {
        const session = jobs.ownerOf(job.id)
        if (session.scope.signal.aborted) continue
        const preview = previewSafely(job)
        // Claimed before it is delivered: rather never than twice.
        if (jobs.claimNotice(job.id)) bySession.set(session, [...(bySession.get(session) ?? []), { job, preview }])
      } catch (error) {
        // A claim is announced, and who hears of it may remove another job. What has been claimed by then is told all the same.
        log.debug({ job: job.id, err: error }, `job ${job.id} has gone before its end could be told`)
      }
    }
    for (const [session, finished] of bySession) deliver(session, finished)
  }

  function deliver(session: Session, finished: readonly FinishedJob[]): void {
    const refused = (error: unknown): void => {
      const ids = finished.map(({ job }) => job.id)
      log.warn({ session: session.id, jobs: ids, err: error }, `session "${session.id}" did not take the notice of ${ids.join(', ')}`)
    }
    try {
      const notice = Object.freeze({ source: SOURCE, text: noticeText(finished), summary: noticeSummary(finished) })
      // A host that answers with a promise is wrong, but its rejection must not take the runtime with it.
      const answer: unknown = session.deliver(notice)
      if (answer instanceof Promise) answer.catch(refused)
    } catch (error) {
      refused(error)
    }
  }

  function previewSafely(job: JobView): string {
    try {
      return previewOf(jobs, job)
    } catch (error) {
      log.warn({ job: job.id, err: error }, `the last output of job ${job.id} could not be read`)
      return ''
    }
  }
}
