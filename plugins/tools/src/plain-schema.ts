import type { z } from 'zod'

const LEAVES: ReadonlySet<unknown> = new Set('string number boolean bigint date null undefined void any unknown never literal enum'.split(' '))

/** Of zod itself. `custom` is an author's function, and `property` has a schema of its own. */
const CHECKS: ReadonlySet<unknown> = new Set(
  'less_than greater_than multiple_of number_format bigint_format string_format max_length min_length length_equals max_size min_size size_equals'.split(
    ' ',
  ),
)

/** Where the schemas are that one consists of, by its type. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  object: ['shape', 'catchall'],
  array: ['element'],
  tuple: ['items', 'rest'],
  record: ['keyType', 'valueType'],
  union: ['options'],
  optional: ['innerType'],
  nullable: ['innerType'],
  nonoptional: ['innerType'],
  readonly: ['innerType'],
  default: ['innerType'],
}

/**
 * Whether a schema runs nothing of its author's, which could return a promise: such a one can be parsed at once, and for that zod has
 * compiled code. What is not known is taken for the author's. By what it is made of, not by `instanceof`: a plugin may bring a zod of its own.
 */
export function isPlain(schema: unknown, seen = new Set<unknown>()): boolean {
  if (seen.has(schema)) return true
  seen.add(schema)
  const def = (schema as z.ZodType | undefined)?._zod?.def as Record<string, unknown> | undefined
  const checks = (def?.checks ?? []) as readonly { readonly _zod?: { readonly def?: { readonly check?: unknown } } }[]
  if (def === undefined || !checks.every((check) => CHECKS.has(check._zod?.def?.check))) return false
  const type = String(def.type)
  if (LEAVES.has(type)) return true
  return Object.hasOwn(PARTS, type) && PARTS[type]?.every((part) => schemasIn(def[part]).every((inner) => isPlain(inner, seen))) === true
}

function schemasIn(part: unknown): readonly unknown[] {
  if (part === undefined || part === null) return []
  return typeof part === 'object' && '_zod' in part ? [part] : Object.values(part)
}
