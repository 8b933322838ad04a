import type { EnvEntries } from '@tenon/subprocess'

/** Layers of explicit entries, later ones winning. On Windows names differ in more than case, so only the last spelling stays. Pure. */
export function layeredEnv(platform: NodeJS.Platform, ...layers: readonly (EnvEntries | undefined)[]): EnvEntries {
  const merged = new Map<string, readonly [string, string | undefined]>()
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) merged.set(platform === 'win32' ? key.toUpperCase() : key, [key, value])
  }
  return Object.fromEntries(merged.values())
}
