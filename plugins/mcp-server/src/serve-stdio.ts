import { setImmediate as turn } from 'node:timers/promises'
import type { PluginScope, Reconciling } from '@tenon/kernel'
import type { Attendant } from './endpoint.ts'
import { StandardStreams } from './standard-streams.ts'
import type { StdioEndpoint } from './stdio.ts'

/** Serves while the program gives standard input and output to this row, and says so if it does not. */
export function serveStdio(scope: PluginScope, endpoint: StdioEndpoint, attendant: Attendant, reconciling: Reconciling): void {
  const idle = `row "${scope.name}" serves nothing`
  scope.inject(
    [StandardStreams],
    (fork, streams) => {
      if (streams.row !== scope.name) {
        endpoint.explain(
          attendant,
          `${idle}: the row "${streams.row}" has standard input and output; take one of the two out, or set transport: http`,
        )
        return
      }
      fork.defer(() => endpoint.hold())
      fork.spawn(async () => endpoint.admit(attendant, streams))
    },
    (fork) => {
      fork.spawn(async (signal) => {
        // Most programs give once they have booted: at rest, one turn of the event loop is theirs.
        await reconciling
          .settled(signal)
          .then(() => turn())
          .then(() => reconciling.settled(signal))
          .catch(() => undefined)
        if (!signal.aborted)
          endpoint.explain(attendant, `${idle}: standard input and output belong to this program; serve with \`tenon mcp\`, or set transport: http`)
      })
    },
  )
}
