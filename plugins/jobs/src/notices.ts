import { announceChange } from './events.ts'
import type { KeptJobs } from './kept.ts'
import { isLive, type JobRecord } from './record.ts'
import { claimed } from './retention.ts'

/** @returns true once: whoever gets it tells the owner */
export function claimNotice(jobs: KeptJobs, record: JobRecord): boolean {
  if (record.notice !== 'due') return false
  decide(jobs, record, 'sent')
  return true
}

/** The owner has seen how the job ended: nobody need tell it any more. */
export function sawTheEnd(jobs: KeptJobs, record: JobRecord): void {
  if (isLive(record)) return
  record.terminalRead = true
  if (record.notice === 'due') decide(jobs, record, 'withheld')
  else claimed(record)
}

function decide(jobs: KeptJobs, record: JobRecord, notice: 'sent' | 'withheld'): void {
  record.notice = notice
  jobs.due.delete(record)
  claimed(record)
  announceChange(jobs, record.owner)
}
