import { setMaxListeners } from 'node:events'
import type { AnyCapability, PluginScope } from '@tenon/kernel'
import { Approval } from '@tenon/tools'
import type { KeptTools } from './kept.ts'

/**
 * Keeps in mind who can be asked. A reload of this row ends the fork although the provider stays, and must not cancel what a person is
 * being asked: the question ends when the provider has left for good, or another one is there.
 */
export function followApprover<C, O extends AnyCapability>(scope: PluginScope<C, O>, kept: KeptTools): void {
  const gone = (): void => {
    kept.approver?.gone.abort()
    kept.approver = undefined
  }
  scope.inject(
    [Approval],
    (fork, approval) => {
      if (kept.approver?.approval !== approval) gone()
      const approver = kept.approver ?? { approval, gone: unlimited(), present: true }
      approver.present = true
      kept.approver = approver
      fork.defer(() => {
        approver.present = false
      })
    },
    gone,
  )
}

/** Every question that is being asked listens; Node warns of the eleventh. */
function unlimited(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
