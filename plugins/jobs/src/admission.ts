import { JobError } from '@tenon/jobs'
import type { Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { KeptJobs } from './kept.ts'
import type { Owner } from './record.ts'
import { text } from './text.ts'
import { messageOf } from './thrown.ts'

/** @throws KernelError SCOPE_CLOSED */
export function attachController(
  jobs: KeptJobs,
  scope: Scope,
  { name, serves }: { readonly name: string; serves?(session: Session): boolean },
): void {
  const controller = {
    name,
    serves(session: Session): boolean {
      try {
        return serves === undefined || serves(session) === true
      } catch (error) {
        jobs.activation.log.warn({ controller: name, err: error }, `job controller "${name}" failed to say whom it serves: ${messageOf(error)}`)
        return false
      }
    },
  }
  scope.defer(() => {
    jobs.controllers = jobs.controllers.filter((other) => other !== controller)
    jobs.controllersChanged.emit()
  })
  jobs.controllers = [...jobs.controllers, controller]
  jobs.controllersChanged.emit()
}

/** @throws KernelError SCOPE_CLOSED */
export function whileControlled(jobs: KeptJobs, scope: Scope, body: (branch: Scope) => void): void {
  let branch: Scope | undefined
  const report = (error: unknown): void => scope.report(error, 'listener')
  const end = (ending: Scope | undefined): void => void ending?.close().catch(report)
  const follow = (): void => {
    if (jobs.controllers.length === 0) {
      end(branch)
      branch = undefined
    } else if (branch === undefined && !scope.closed) {
      // A scope that is closing still hears: its children end before its listeners.
      branch = scope.child('controlled')
      run(branch)
    }
  }
  /** A body that fails leaves nothing behind, and gets its next chance with the next first controller. */
  const run = (own: Scope): void => {
    try {
      // An asynchronous function is assignable to a body.
      const returned: unknown = body(own)
      if (returned instanceof Promise) {
        returned.catch((error: unknown) => {
          report(error)
          end(own)
        })
      }
    } catch (error) {
      end(own)
      throw error
    }
  }
  jobs.controllersChanged.on(scope, follow)
  follow()
}

/** @throws JobError JOB_NO_CONTROLLER: the model could neither read nor stop the job, nor be told of its end */
export function assertServed(jobs: KeptJobs, session: Session): void {
  if (!jobs.controllers.some((controller) => controller.serves(session))) throw new JobError('JOB_NO_CONTROLLER', text.noController)
}

/** A slot is taken by every live job, a stopping one included. @throws JobError JOB_LIMIT_DETACHED, JOB_LIMIT_TOTAL */
export function assertAdmitted(jobs: KeptJobs, owner: Owner | undefined, attachment: 'foreground' | 'detached'): void {
  const { maxDetachedPerOwner, maxJobsPerOwner } = jobs.activation.config
  let [all, detached] = [0, 0]
  for (const live of owner?.live ?? []) {
    all++
    if (live.attachment === 'detached') detached++
  }
  if (attachment === 'detached' && detached >= maxDetachedPerOwner) {
    throw new JobError('JOB_LIMIT_DETACHED', text.detachedLimit(maxDetachedPerOwner))
  }
  if (all >= maxJobsPerOwner) throw new JobError('JOB_LIMIT_TOTAL', text.totalLimit(maxJobsPerOwner))
}
