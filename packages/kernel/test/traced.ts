import { type Capability, capability, definePlugin, type Plugin } from '@tenon/kernel'
import type { Gate } from './gate.ts'

export const A = capability<string>('a')
export const B = capability<string>('b')
export const C = capability<string>('c')
export const D = capability<string>('d')

export interface TracedSpec {
  readonly inject?: readonly Capability<string>[]
  readonly provides?: readonly Capability<string>[]
  /** Where the activation waits after its first effect. */
  readonly up?: Gate
  /** Where its undo waits. */
  readonly down?: Gate
  /** Thrown at the end of the activation, after everything was offered. */
  readonly fails?: (run: number) => boolean
}

/**
 * A plugin that writes into `log` what becomes of it: `name up <values>` when its activation starts, `name down` when its undo
 * starts, `name closed` when an undo that waits has ended. It offers `name#run` under everything it provides.
 */
export function traced(log: string[], name: string, spec: TracedSpec = {}): Plugin<undefined> {
  let runs = 0
  return definePlugin({
    name,
    inject: spec.inject ?? [],
    provides: spec.provides ?? [],
    activate(scope, ...values): void | Promise<void> {
      const run = ++runs
      log.push([name, 'up', ...values].join(' '))
      const down = spec.down
      scope.defer(
        down === undefined
          ? () => {
              log.push(`${name} down`)
            }
          : async () => {
              log.push(`${name} down`)
              await down.pass()
              log.push(`${name} closed`)
            },
      )
      const offer = (): void => {
        for (const token of spec.provides ?? []) scope.provide(token, `${name}#${run}`)
        if (spec.fails?.(run) === true) throw new Error(`${name} fails on run ${run}`)
      }
      if (spec.up === undefined) return offer()
      return spec.up.pass().then(offer)
    },
  })
}
