import type { Plugin } from '@tenon/kernel'
import { isNull, type LocatedEntry, toJson } from './located.ts'
import type { RowFaults } from './row-faults.ts'
import { checkAgainst } from './schema-faults.ts'
import type { Place } from './source-text.ts'

export interface ConfigContext {
  /** Each before those it extends. */
  readonly files: readonly string[]
  /** Where the row names its plugin. */
  readonly use: Place
}

/** Asks the plugin's own schema about `with`, expressions replaced; false if it has anything against it. */
export function checkConfig(plugin: Plugin, config: LocatedEntry | undefined, context: ConfigContext, faults: RowFaults): boolean {
  const inherited = (place: Place): string | undefined => inheritedHint(place, context)
  const schema = plugin.config
  if (schema === undefined) return acceptsNothing(plugin, config, inherited, faults)
  const given = config === undefined || isNull(config.value) ? undefined : toJson(config.value)
  const checked = checkAgainst(schema, given)
  if (checked.ok) return true
  // Without `with`, the keys that have no default say more than "expected a map".
  const inner = given === undefined ? checkAgainst(schema, {}) : checked
  const root = config ?? { key: context.use, value: { kind: 'map', entries: new Map(), place: context.use } as const }
  for (const fault of inner.ok ? checked.faults : inner.faults) {
    faults.reportSchema(fault, root, { invalid: 'CONFIG_INVALID', unknownKey: 'CONFIG_UNKNOWN_KEY' }, inherited)
  }
  return false
}

function acceptsNothing(
  plugin: Plugin,
  config: LocatedEntry | undefined,
  inherited: (place: Place) => string | undefined,
  faults: RowFaults,
): boolean {
  if (config?.value.kind !== 'map' || config.value.entries.size === 0) return true
  for (const [key, { key: place }] of config.value.entries) {
    const message = `${key}: the plugin "${plugin.name}" takes no config`
    faults.report(place, 'CONFIG_UNKNOWN_KEY', message, { hint: inherited(place) ?? 'remove it' })
  }
  return false
}

/** `with` merges with that of the files below even where the row now names another plugin. */
function inheritedHint(place: Place, { files, use }: ConfigContext): string | undefined {
  const named = use.source.path
  if (files.indexOf(place.source.path) <= files.indexOf(named)) return undefined
  return `the row names its plugin in ${named}; take this key away there with \`$unset\`, or write \`$replace\` in \`with\``
}
