import type { z } from 'zod'
import { describe } from './expectation.ts'
import type { JsonPath } from './json-path.ts'
import { PARTS } from './plain-schema.ts'
import { schemaProblems } from './text.ts'

/** By what it is made of, not by `instanceof`: a plugin may bring a zod of its own. */
export function isZodSchema(value: unknown): value is z.ZodType {
  return typeof defOf(value)?.type === 'string'
}

export function isStrictObject(value: unknown): value is z.ZodObject {
  const def = defOf(value)
  return def?.type === 'object' && defOf(def.catchall)?.type === 'never'
}

/** What was given in place of a schema. */
export function describeNoSchema(value: unknown): string {
  return isOfZod3(value) ? schemaProblems.aSchemaOfZod3 : describe(value)
}

interface Part {
  readonly path: JsonPath
  readonly value: unknown
}

/** The first part of a schema that is none: zod takes whatever it is given, and stumbles over it when it is used. */
export function foreignPart(schema: unknown, path: JsonPath = [], seen = new Set<unknown>()): Part | undefined {
  const def = defOf(schema)
  if (def === undefined) return { path, value: schema }
  if (seen.has(schema)) return undefined
  seen.add(schema)
  for (const name of PARTS[String(def.type)] ?? []) {
    for (const part of partsIn(name, def[name], path)) {
      const foreign = foreignPart(part.value, part.path, seen)
      if (foreign !== undefined) return foreign
    }
  }
  return undefined
}

/** Parts that a schema may be without. */
const OPTIONAL: ReadonlySet<string> = new Set(['catchall', 'rest'])

function partsIn(name: string, value: unknown, path: JsonPath): readonly Part[] {
  if (name === 'shape') return Object.entries(value as object).map(([key, inner]) => ({ path: [...path, key], value: inner as unknown }))
  if (Array.isArray(value)) return value.map((inner: unknown, index) => ({ path: [...path, index], value: inner }))
  return OPTIONAL.has(name) && (value === undefined || value === null) ? [] : [{ path, value }]
}

function defOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return (value as { _zod?: { def?: Record<string, unknown> } } | null | undefined)?._zod?.def
}

function isOfZod3(value: unknown): boolean {
  return typeof (value as { _def?: { typeName?: unknown } } | null | undefined)?._def?.typeName === 'string'
}
