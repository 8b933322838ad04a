import type { Json, JsonObject } from '@tenon/kernel'
import { optionsOf } from '../../../packages/cli/src/option-table.ts'
import { code, page, table } from './page.ts'

/** The keys of a catalog file, out of its JSON Schema. */
export function catalogFilePage(schema: JsonObject): string {
  const introduction =
    'YAML 1.2 that names the plugins of one composition; a file whose name ends in `.json` is strict JSON, without comments or trailing commas. The same as JSON Schema: `tenon schema > tenon.schema.json`, and as the first line of a file `# yaml-language-server: $schema=./tenon.schema.json`.'
  const rows = objectAt(schema, 'properties', 'plugins', 'patternProperties')
  const [pattern = ''] = Object.keys(rows)
  const [, row = {}] = listAt(rows, pattern, 'anyOf')
  return page('Catalog files', introduction, [
    `## The file\n\n${keys(schema)}`,
    `## A row\n\nIts id matches ${code(pattern)}. Its value is the name of a plugin, or a map:\n\n${keys(row as JsonObject)}`,
    `## Conditions\n\nOf \`when\`. ${String(objectAt(row as JsonObject, 'properties', 'when').description)}\n\n${keys(objectAt(row as JsonObject, 'properties', 'when'))}`,
    MERGING,
  ])
}

const MERGING = `## Layers and expressions

Maps are merged key by key with those of the files that are extended, this file last; lists and plain values replace. \`$unset: [key]\` takes keys
away, and \`$replace: value\` stands for the whole value. An unquoted value that is one whole expression is a number, a boolean or null where all of its text is one, and else a text.

${table(
  ['expression', 'becomes'],
  [
    [code(`\${env:NAME}`), 'the variable; without it a fault'],
    [code(`\${env:NAME:-default}`), 'the variable, or the default where it is not set or empty'],
    [code(`\${catalog:dir}`), 'the folder of the file that says so'],
  ],
)}`

/** One line for each key, those of nested maps left to their own section. */
function keys(schema: JsonObject): string {
  const flat = Object.fromEntries(
    Object.entries(objectAt(schema, 'properties')).map(([name, value]) => {
      const { properties: _, ...rest } = value as JsonObject
      return [name, rest as Json]
    }),
  )
  const rows = optionsOf({ ...schema, properties: flat }).map(({ path, default: fallback, description = '' }) => [
    code(path),
    fallback === undefined ? '' : code(fallback),
    description,
  ])
  return table(['key', 'default', ''], rows)
}

function objectAt(schema: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((inner, key) => inner[key] as JsonObject, schema)
}

function listAt(schema: JsonObject, ...path: readonly string[]): readonly Json[] {
  return path.reduce<Json>((inner, key) => (inner as JsonObject)[key] as Json, schema) as readonly Json[]
}
