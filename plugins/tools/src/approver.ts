import type { PluginScope } from '@tenon/kernel'
import { Approval } from '@tenon/tools'
import type { KeptTools } from './kept.ts'

/**
 * Keeps in mind who can be asked. A reload of this row closes the fork although the provider stays, and must not cancel what a person is
 * being asked: only when the provider itself has left, the question ends.
 */
export function followApprover<C, O extends never>(scope: PluginScope<C, O>, kept: KeptTools): void {
  const leave = (): void => {
    kept.approver?.gone.abort()
    kept.approver = undefined
  }
  scope.inject(
    [Approval],
    (fork, approval) => {
      if (kept.approver?.approval !== approval) {
        leave()
        kept.approver = { approval, gone: new AbortController() }
      }
      fork.defer(() => {
        if (!scope.closed) leave()
      })
    },
    leave,
  )
}
