import type { Json } from '@tenon/kernel'
import type { JsonSchema } from '@tenon/tools'
import { z } from 'zod'
import { copyJson } from './json-copy.ts'
import { formatPath, type JsonPath } from './json-path.ts'
import { schemaProblems } from './text.ts'
import { describeNoSchema, foreignPart } from './zod-schema.ts'

const UNBOUNDED = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: 1_000 } as const

/** By schema object: those of a tool that is taken back and registered again are the same, and converted once. */
export interface ConvertedSchemas {
  readonly input: WeakMap<z.ZodType, JsonSchema>
  readonly output: WeakMap<z.ZodType, JsonSchema>
}

/** Throws what zod throws for a schema that JSON Schema cannot express, or what says which part of it is no schema. */
export function convertSchema(schema: z.ZodType, io: 'input' | 'output', known: ConvertedSchemas): JsonSchema {
  let converted = known[io].get(schema)
  if (converted === undefined) {
    converted = copySchema(toJsonSchema(schema, io))
    known[io].set(schema, converted)
  }
  return converted
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): unknown {
  try {
    return z.toJSONSchema(schema, { io })
  } catch (error) {
    const foreign = foreignPart(schema)
    throw foreign === undefined ? error : new Error(schemaProblems.part(formatPath([io, ...foreign.path]), describeNoSchema(foreign.value)))
  }
}

/** A detached frozen copy. Throws NotJson, also for what is not an object. */
export function copySchema(schema: unknown): JsonSchema {
  const copy = copyJson(schema, { ...UNBOUNDED, undefinedProperties: 'refuse', root: 'the schema' })
  if (!isObject(copy)) throw new Error('the schema is not an object')
  return copy
}

/** The keys an object at `path` may have, as far as the schema says so plainly. */
export function propertiesAt(schema: JsonSchema, path: JsonPath): readonly string[] {
  let node: Json | undefined = schema
  for (const part of path) {
    const at: JsonSchema | undefined = resolve(schema, node)
    node = typeof part === 'number' ? at?.items : own(at?.properties, part)
  }
  const properties = resolve(schema, node)?.properties
  return isObject(properties) ? Object.keys(properties) : []
}

function resolve(root: JsonSchema, node: Json | undefined): JsonSchema | undefined {
  if (!isObject(node)) return undefined
  if (typeof node.$ref !== 'string') return node
  const name = /^#\/\$defs\/(.+)$/.exec(node.$ref)?.[1]
  const target = name === undefined ? undefined : own(root.$defs, name)
  return isObject(target) ? target : undefined
}

function own(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
