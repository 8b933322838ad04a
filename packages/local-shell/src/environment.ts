import type { EnvEntries } from '@tenon/subprocess'

/** Layers of explicit entries, later ones winning. On Windows names differ in more than case, so only the last spelling stays. Pure. */
export function layeredEnv(platform: NodeJS.Platform, ...layers: readonly (EnvEntries | undefined)[]): EnvEntries {
  // Without a prototype: `__proto__` is a name like any other.
  if (platform !== 'win32') return Object.assign(Object.create(null) as Record<string, string | undefined>, ...layers) as EnvEntries
  const merged = new Map<string, readonly [string, string | undefined]>()
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) merged.set(key.toUpperCase(), [key, value])
  }
  return Object.fromEntries(merged.values())
}
