import type { FirstPartyPlugin } from '@tenon/catalog'
import { type AnyCapability, capability, definePlugin, type Plugin } from '@tenon/kernel'
import { z } from 'zod'

export const Engine = capability<{ start(): void }>('engine')
export const Gears = capability<object>('gears')
export const Wheels = capability<object>('wheels')

/** A small world beside the real one: what a composition needs to be right or wrong about. */
export function firstParty(activated: string[] = []): readonly FirstPartyPlugin[] {
  const define = (name: string, inject: readonly AnyCapability[], provides: readonly AnyCapability[], config?: z.ZodType): Plugin =>
    definePlugin({
      ...{ name, inject, provides, config },
      activate(scope) {
        activated.push(name)
        for (const offer of provides) scope.provide(offer as never, {} as never)
      },
    })
  const plugins = [
    define(
      'petrol-engine',
      [],
      [Engine],
      z.strictObject({ cylinders: z.int().positive().default(4), fuel: z.enum(['diesel', 'petrol']).default('petrol') }).prefault({}),
    ),
    define('electric-engine', [], [Engine]),
    define(
      'gear-box',
      [Engine],
      [Gears],
      z.strictObject({ ratios: z.array(z.number()), label: z.strictObject({ text: z.string(), size: z.number().optional() }).optional() }),
    ),
    define('wheel-set', [Gears], [Wheels]),
    define('anything', [], [], z.looseObject({ port: z.number().optional() })),
  ]
  return plugins.map((plugin) => ({ name: plugin.name, load: async () => ({ default: plugin }) }))
}
