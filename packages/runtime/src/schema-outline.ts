import type { JsonObject } from '@tenon/kernel'
import { z } from 'zod'
import type { Path } from './located.ts'

/**
 * The keys a schema takes at `path` of `value`. Of the branches of a union, those that come nearest to the value count: a key of another
 * one is no more known there than any.
 */
export function knownKeys(schema: z.ZodType, path: Path, value: unknown): readonly string[] {
  return [...new Set(nodesAt(schema, path, value).flatMap(keysOf))]
}

/** As JSON. */
export function defaultAt(schema: z.ZodType, path: Path, value: unknown): string | undefined {
  const found = nodesAt(schema, path, value).find((node) => node.default !== undefined)?.default
  return found === undefined ? undefined : JSON.stringify(found)
}

/** What is at `path` of a value; undefined if there is nothing. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((here, step) => (isMap(here) && Object.hasOwn(here, step) ? here[step] : undefined), value)
}

/** What a schema says of `path`, read from its JSON Schema: that form is the same for every way a schema can be composed. */
function nodesAt(schema: z.ZodType, path: Path, value: unknown): readonly JsonObject[] {
  try {
    const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject
    let here = alternatives(root, root, value)
    for (const [index, step] of path.entries()) {
      const inner = at(value, path.slice(0, index + 1))
      here = here.flatMap((node) => below(node, step)).flatMap((node) => alternatives(node, root, inner))
    }
    return here
  } catch {
    return []
  }
}

function alternatives(node: JsonObject, root: JsonObject, value: unknown): JsonObject[] {
  const target = targetOf(node, root)
  const branches = likeliest(
    [...listOf(target.anyOf), ...listOf(target.oneOf)].map((branch) => targetOf(branch, root)),
    value,
  )
  // The node too: what it says beside its reference, such as a default, holds as well.
  return [node, target, ...[...branches, ...listOf(target.allOf)].flatMap((inner) => alternatives(inner, root, value))]
}

function targetOf(node: JsonObject, root: JsonObject): JsonObject {
  if (typeof node.$ref !== 'string') return node
  return node.$ref === '#' ? root : mapOf(mapOf(root.$defs)[node.$ref.replace(/^#\/\$defs\//, '')])
}

/** A fixed value that agrees, such as the discriminator of a union, says more than any number of keys. */
function likeliest(branches: readonly JsonObject[], value: unknown): readonly JsonObject[] {
  if (!isMap(value)) return branches
  const nearness = (branch: JsonObject): number => {
    const shared = Object.entries(mapOf(branch.properties)).filter(([key]) => Object.hasOwn(value, key))
    return shared.length + 1_000 * shared.filter(([key, property]) => fixedValues(mapOf(property)).includes(value[key])).length
  }
  const nearest = Math.max(...branches.map(nearness))
  return branches.filter((branch) => nearness(branch) === nearest)
}

function fixedValues({ const: only, enum: several }: JsonObject): readonly unknown[] {
  return Array.isArray(several) ? several : only === undefined ? [] : [only]
}

function below(node: JsonObject, step: PropertyKey): JsonObject[] {
  if (typeof step === 'number') return [mapOf(Array.isArray(node.prefixItems) ? (node.prefixItems[step] ?? node.items) : node.items)]
  return [mapOf(mapOf(node.properties)[String(step)] ?? node.additionalProperties)]
}

function keysOf({ properties, propertyNames }: JsonObject): readonly string[] {
  const names = fixedValues(mapOf(propertyNames)).filter((name) => typeof name === 'string')
  return [...Object.keys(mapOf(properties)), ...names]
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(mapOf) : []
}

function mapOf(value: unknown): JsonObject {
  return isMap(value) && !Array.isArray(value) ? (value as JsonObject) : {}
}

function isMap(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return typeof value === 'object' && value !== null
}
