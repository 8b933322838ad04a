import { definePlugin, type Plugin } from '@tenon/kernel'
import { z } from 'zod'
import type { Gate } from './gate.ts'
import { A } from './traced.ts'

export interface KeptValue {
  readonly id: number
  readonly data: string
}

export interface KeeperConfig {
  readonly version?: number
  readonly fails?: boolean
}

export interface KeeperSpec {
  readonly name?: string
  readonly migrate?: boolean
  /** Where an activation of that version waits after `keep`. */
  readonly up?: Readonly<Record<number, Gate>>
  readonly needsA?: boolean
}

/** What a test sees of the kept values: all that were made, what became of them, and which one each activation got. */
export class Keepsakes {
  readonly made: KeptValue[] = []
  readonly log: string[] = []
  /** The value of each activation that got as far as `keep`. */
  readonly got: KeptValue[] = []

  make(data: string): KeptValue {
    const value = { id: this.made.length + 1, data }
    this.made.push(value)
    this.log.push(`create ${value.id}`)
    return value
  }

  get disposals(): string[] {
    return this.log.filter((line) => line.startsWith('dispose'))
  }
}

/** A plugin that keeps one value, of a version that its config tells, and writes down what happens to it. */
export function keeper(kept: Keepsakes, spec: KeeperSpec = {}): Plugin<KeeperConfig | undefined> {
  return definePlugin({
    name: spec.name ?? 'keeper',
    inject: spec.needsA === true ? [A] : [],
    config: z.strictObject({ version: z.int().default(1), fails: z.boolean().default(false) }).prefault({}),
    async activate(scope) {
      const { version, fails } = scope.config
      const value = scope.keep<KeptValue>({
        key: 'state',
        version,
        create: () => kept.make(`v${version}`),
        dispose: ({ id }) => void kept.log.push(`dispose ${id}`),
        ...(spec.migrate === true
          ? {
              migrate: (old: unknown, from: number) => {
                kept.log.push(`migrate ${(old as KeptValue).id} from ${from}`)
                return kept.make(`${(old as KeptValue).data}>v${version}`)
              },
            }
          : {}),
      })
      kept.got.push(value)
      scope.defer(() => void kept.log.push('down'))
      await spec.up?.[version]?.pass()
      if (fails) throw new Error('the keeper fails')
      kept.log.push(`active with ${value.id}`)
    },
  }) as Plugin<KeeperConfig | undefined>
}
