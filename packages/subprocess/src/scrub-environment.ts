import { isCredentialName, isCredentialValue } from './credentials.ts'
import { isManaged } from './managed-environment.ts'
import type { EnvEntries } from './spawn-spec.ts'

/** Names are exact; on Windows their case does not count. */
export interface ScrubRules {
  /** Kept whatever else would drop them, except managed `TENON_*`. */
  readonly allow: readonly string[]
  /** Dropped unless allowed. */
  readonly deny: readonly string[]
  /** Whether `NODE_OPTIONS`, which changes every Node program below, counts as a startup hook. */
  readonly dropNodeOptions: boolean
}

/** Names that hold credentials without saying so in a segment of their own. */
export const DEFAULT_DENIED_NAMES: readonly string[] = ['PGPASSWORD', 'MYSQL_PWD', 'REDISCLI_AUTH', 'SSHPASS', 'APIKEY', 'AUTHTOKEN']

/** Each runs or alters code at the start of every shell below (bash manual, "Bash Startup Files" and "Bash Variables"; POSIX `ENV`). */
const STARTUP_HOOKS: readonly string[] = ['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4']
const EXPORTED_FUNCTION_PREFIX = 'BASH_FUNC_'

/**
 * The part of the host's environment that a child may inherit. The first rule that speaks decides: managed names are dropped, `allow`
 * keeps, `deny` drops, then startup hooks, credential names and credential values are dropped. Pure; `removed` holds names, never
 * values. On Windows, of names that differ only in case the last one survives.
 */
export function scrubEnvironment(
  parent: EnvEntries,
  rules: ScrubRules,
  platform: NodeJS.Platform,
): { env: Record<string, string>; removed: string[] } {
  const fold = platform === 'win32' ? (name: string): string => name.toUpperCase() : (name: string): string => name
  const allow = new Set(rules.allow.map(fold))
  const deny = new Set(rules.deny.map(fold))
  const hooks = new Set(rules.dropNodeOptions ? [...STARTUP_HOOKS, 'NODE_OPTIONS'] : STARTUP_HOOKS)
  const removed: string[] = []
  const kept = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue
    const folded = fold(name)
    if (isDropped(name, value, folded)) removed.push(name)
    else kept.set(folded, [name, value])
  }
  return { env: environmentOf(kept.values()), removed }

  function isDropped(name: string, value: string, folded: string): boolean {
    if (isManaged(name)) return true
    if (allow.has(folded)) return false
    if (deny.has(folded)) return true
    if (hooks.has(folded) || folded.startsWith(EXPORTED_FUNCTION_PREFIX)) return true
    return isCredentialName(name) || isCredentialValue(value)
  }
}

/** `entries` over `base`: the later wins, a tombstone removes. On Windows one key of each spelling survives, the explicit one. */
export function overlayEnvironment(base: Readonly<Record<string, string>>, entries: EnvEntries, platform: NodeJS.Platform): Record<string, string> {
  if (platform === 'win32') {
    const folded = new Map(Object.entries(base).map(([name, value]) => [name.toUpperCase(), [name, value] as const]))
    for (const [name, value] of Object.entries(entries)) {
      if (value === undefined) folded.delete(name.toUpperCase())
      else folded.set(name.toUpperCase(), [name, value])
    }
    return environmentOf(folded.values())
  }
  const env = Object.assign(Object.create(null) as Record<string, string>, base)
  for (const [name, value] of Object.entries(entries)) {
    if (value === undefined) delete env[name]
    else env[name] = value
  }
  return env
}

/** Without a prototype: `__proto__` and `constructor` are names like any other. */
function environmentOf(entries: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const env = Object.create(null) as Record<string, string>
  for (const [name, value] of entries) env[name] = value
  return env
}
