import type { Json, JsonObject } from '@tenon/kernel'

/** One option of a plugin, as its schema describes it. */
export interface OptionEntry {
  /** With dots for what lies inside a map. */
  readonly path: string
  readonly type: string
  /** JSON; undefined for an option without a default. */
  readonly default?: string
  readonly required: boolean
  readonly description?: string
}

/** The options of a config schema, in its order; maps with known keys are taken apart. */
export function optionsOf(schema: JsonObject, prefix = ''): readonly OptionEntry[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  return Object.entries(asObject(schema.properties)).flatMap(([name, value]): readonly OptionEntry[] => {
    const option = asObject(value)
    const path = `${prefix}${name}`
    const inner = asObject(option.properties)
    if (Object.keys(inner).length > 0) return optionsOf(option, `${path}.`)
    const { default: fallback, description } = option
    return [
      {
        path,
        type: typeOf(option),
        required: required.has(name),
        ...(fallback === undefined ? {} : { default: JSON.stringify(fallback) }),
        ...(typeof description === 'string' ? { description } : {}),
      },
    ]
  })
}

function typeOf(schema: JsonObject): string {
  const { type, enum: values, const: constant, anyOf, oneOf, items, additionalProperties } = schema
  if (Array.isArray(values)) return values.map((value: Json) => JSON.stringify(value)).join(' | ')
  if (constant !== undefined) return JSON.stringify(constant)
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (branches !== undefined) return branches.map((branch: Json) => typeOf(asObject(branch))).join(' | ')
  if (type === 'array') return `list of ${typeOf(asObject(items))}`
  if (type === 'object') return Object.keys(asObject(additionalProperties)).length > 0 ? `map of ${typeOf(asObject(additionalProperties))}` : 'map'
  return typeof type === 'string' ? `${type}${range(schema)}` : 'any'
}

function range({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): string {
  const whole = type === 'integer'
  const low =
    typeof exclusiveMinimum === 'number' ? (whole ? exclusiveMinimum + 1 : exclusiveMinimum) : typeof minimum === 'number' ? minimum : undefined
  const high =
    typeof exclusiveMaximum === 'number' ? (whole ? exclusiveMaximum - 1 : exclusiveMaximum) : typeof maximum === 'number' ? maximum : undefined
  const bounded = (bound: number | undefined): string => (bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? '' : String(bound))
  const [from, to] = [bounded(low), bounded(high)]
  return from === '' && to === '' ? '' : ` ${from}..${to}`
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
