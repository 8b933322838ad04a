import { type FirstPartyPlugin, firstParty } from '@tenon/catalog'
import type { Json, JsonObject } from '@tenon/kernel'
import { z } from 'zod'
import { CatalogHead, ROW_ID, RowHead } from './catalog-schema.ts'
import { describePlugins } from './plugin-reference.ts'

/**
 * JSON Schema of catalog files, for editors: rows, plugins and their options. Milder than the check where a file alone cannot tell:
 * a required option may stand in the file below, and an expression may become any type.
 */
export async function catalogJsonSchema(plugins: readonly FirstPartyPlugin[] = firstParty): Promise<JsonObject> {
  const references = await describePlugins(plugins)
  const head = schemaOf(CatalogHead)
  const { with: _, use, ...row } = propertiesOf(schemaOf(RowHead))
  const names = references.map(({ name }) => name)
  const plugin: JsonObject = { ...(use as JsonObject), anyOf: [{ enum: names }, { type: 'string', minLength: 1 }] }
  const description = "The plugin's config."
  const options = references.map(({ name, config }): Json => {
    const options = config === undefined ? { ...NO_CONFIG, description } : { $ref: `#/$defs/${name}` }
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    return { if: { properties: { use: { const: name } }, required: ['use'] }, then: { properties: { with: options } } }
  })
  const longRow = mild({ type: 'object', properties: row, additionalProperties: false }) as JsonObject
  const rowMap: JsonObject = {
    ...longRow,
    properties: { ...propertiesOf(longRow), use: plugin, with: { type: ['object', 'null'], description } },
    allOf: options,
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tenon catalog file',
    ...head,
    properties: {
      ...propertiesOf(head),
      plugins: {
        ...(propertiesOf(head).plugins as JsonObject),
        properties: { $unset: UNSET, $replace: { ...REPLACE, $ref: '#/properties/plugins' } },
        patternProperties: { [ROW_ID.source]: { anyOf: [plugin, rowMap] } },
        propertyNames: { anyOf: [{ pattern: ROW_ID.source }, { enum: ['$unset', '$replace'] }] },
        additionalProperties: false,
      },
    },
    $defs: Object.fromEntries(references.flatMap(({ name, config }) => (config === undefined ? [] : [[name, orNull(mild(config) as JsonObject)]]))),
  }
}

const UNSET: JsonObject = { type: 'array', items: { type: 'string' }, description: 'Keys of the files below to take away.' }
const REPLACE: JsonObject = { description: 'Stands for the whole value instead of being merged with that of the files below.' }
const NO_CONFIG: JsonObject = { type: ['object', 'null'], properties: { $unset: UNSET, $replace: REPLACE }, additionalProperties: false }
const EXPRESSION: JsonObject = { type: 'string', pattern: '\\$\\{(env|catalog):' }

/** `with: null`, or nothing behind the colon, is as no `with`. */
function orNull(schema: JsonObject): JsonObject {
  return schema.type === 'object' ? { ...schema, type: ['object', 'null'] } : { anyOf: [schema, { type: 'null' }] }
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as JsonObject
  return rest
}

function propertiesOf(schema: JsonObject): JsonObject {
  return (schema.properties as JsonObject | undefined) ?? {}
}

/** The same schema for one layer of several, before expressions are replaced. */
function mild(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => mild(item))
  if (typeof schema !== 'object' || schema === null) return schema
  const { required: _, ...rest } = schema as JsonObject
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, NESTING.has(key) ? mildEach(key, value) : value])) as JsonObject
  const { type } = inner
  if (type === 'object')
    return inner.properties === undefined ? inner : { ...inner, properties: { ...propertiesOf(inner), $unset: UNSET, $replace: REPLACE } }
  const open = type === 'integer' || type === 'number' || type === 'boolean' || (type === 'string' && inner.enum !== undefined)
  if (!open) return inner
  const { description, default: fallback, ...strict } = inner
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [strict, EXPRESSION],
  }
}

const NESTING = new Set(['properties', 'items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', '$defs', 'prefixItems'])

/** `properties` and `$defs` hold schemas by name; the others are schemas, or lists of them. */
function mildEach(key: string, value: Json): Json {
  if (key !== 'properties' && key !== '$defs') return mild(value)
  return Object.fromEntries(Object.entries(value as JsonObject).map(([name, schema]) => [name, mild(schema)]))
}
