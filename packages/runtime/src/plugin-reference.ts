import { type FirstPartyPlugin, firstParty } from '@tenon/catalog'
import type { JsonObject } from '@tenon/kernel'
import { z } from 'zod'
import { PluginLoader } from './plugin-loader.ts'

/** Plain data: a first-party plugin as its code describes it. */
export interface PluginReference {
  readonly name: string
  readonly package?: string
  readonly provides: readonly string[]
  readonly injects: readonly string[]
  /** JSON Schema of what `with` may hold; undefined for a plugin that takes no config. */
  readonly config?: JsonObject
  /** Why it could not be loaded; then nothing else is known. */
  readonly error?: string
}

/** Imports every first-party plugin; activates none. */
export async function describePlugins(plugins: readonly FirstPartyPlugin[] = firstParty): Promise<readonly PluginReference[]> {
  const loader = new PluginLoader(plugins)
  return Promise.all(
    plugins.map(async ({ name, package: packageName }) => {
      const base = { name, ...(packageName === undefined ? {} : { package: packageName }) }
      const outcome = await loader.load({ kind: 'first-party', name })
      if (!outcome.ok) return { ...base, provides: [], injects: [], error: outcome.fault.message }
      const { provides, inject, config } = outcome.plugin
      const keys = (list: readonly { readonly key: string }[]): readonly string[] => list.map(({ key }) => key)
      return { ...base, provides: keys(provides), injects: keys(inject), ...(config === undefined ? {} : { config: configSchema(config) }) }
    }),
  )
}

function configSchema(config: z.ZodType): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' }) as JsonObject
  return schema
}
