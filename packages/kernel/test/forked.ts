import { type Capability, definePlugin, type Plugin } from '@tenon/kernel'
import type { Gate } from './gate.ts'

export interface ForkedSpec {
  readonly needs: readonly Capability<string>[]
  /** Where `present` waits. */
  readonly up?: Gate
  /** Where the undo of `present` waits. */
  readonly down?: Gate
  readonly fails?: (run: number) => boolean
  readonly withOtherwise?: boolean
}

/**
 * A plugin with one fork that writes `name + <values>` and `name -` for `present`, `name + otherwise` and `name - otherwise` for the
 * other branch, and `name both` should both ever be alive.
 */
export function forked(log: string[], name: string, spec: ForkedSpec): Plugin<undefined> {
  let run = 0
  return definePlugin({
    name,
    activate(scope) {
      let alive = 0
      const enter = (line: string): void => {
        log.push(line)
        if (++alive > 1) log.push(`${name} both`)
      }
      scope.defer(() => void log.push(`${name} down`))
      scope.inject(
        spec.needs,
        (fork, ...values): void | Promise<void> => {
          run++
          enter([name, '+', ...values].join(' '))
          fork.defer(async () => {
            await spec.down?.pass()
            alive--
            log.push(`${name} -`)
          })
          const end = (): void => {
            if (spec.fails?.(run) === true) throw new Error(`${name} fork fails on run ${run}`)
          }
          return spec.up === undefined ? end() : spec.up.pass().then(end)
        },
        spec.withOtherwise === false
          ? undefined
          : (fork) => {
              enter(`${name} + otherwise`)
              fork.defer(() => {
                alive--
                log.push(`${name} - otherwise`)
              })
            },
      )
    },
  })
}
