import { didYouMean } from '@tenon/kernel'
import type { z } from 'zod'
import type { Path } from './located.ts'
import { numberFromText, numberHint } from './number-hint.ts'
import { at, defaultAt, knownKeys } from './schema-outline.ts'

/** One thing a schema has against a value. */
export interface SchemaFault {
  readonly kind: 'invalid' | 'unknown-key'
  /** Of the value, or of the unknown key. */
  readonly path: Path
  readonly message: string
  readonly hint?: string
  /** A better one, which gives away what the value is. */
  readonly hintFromValue?: string
}

type Issue = z.core.$ZodIssue

/** All faults at once; a schema that throws, or wants to be awaited, is a fault too. */
export function checkAgainst<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { readonly ok: true; readonly value: z.output<S> } | { readonly ok: false; readonly faults: readonly SchemaFault[] } {
  try {
    const result = schema.safeParse(value)
    if (result.success) return { ok: true, value: result.data }
    return { ok: false, faults: result.error.issues.flatMap((issue) => faultsOf(issue, [], schema, value)) }
  } catch (error) {
    const message = `the schema itself failed: ${error instanceof Error ? error.message : String(error)}`
    return { ok: false, faults: [{ kind: 'invalid', path: [], message }] }
  }
}

function faultsOf(issue: Issue, base: Path, schema: z.ZodType, value: unknown): readonly SchemaFault[] {
  const path = [...base, ...issue.path]
  const actual = at(value, path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, path, schema, value))
    case 'invalid_union':
      return unionFaults(issue, path, schema, value)
    case 'invalid_type':
      // Without the value: it may have come from the environment.
      return [{ kind: 'invalid', path, message: expectation(typeName(issue.expected), actual), ...typeHint(issue.expected, actual, path) }]
    case 'invalid_value':
      return [fixedValueFault(issue.values, path, actual)]
    case 'too_small':
      return [
        {
          kind: 'invalid',
          path,
          message: expectation(
            boundOf(issue.origin, issue.minimum, issue.exact === true ? 'exactly' : issue.inclusive === false ? 'more than' : 'at least'),
            actual,
          ),
        },
      ]
    case 'too_big':
      return [
        {
          kind: 'invalid',
          path,
          message: expectation(
            boundOf(issue.origin, issue.maximum, issue.exact === true ? 'exactly' : issue.inclusive === false ? 'less than' : 'at most'),
            actual,
          ),
        },
      ]
    default: {
      const message = issue.message.replace(/^Invalid input: /, '')
      const got = issue.code === 'custom' || actual === undefined || typeof actual === 'object' ? '' : `, got ${describe(actual)}`
      const fallback = actual === undefined ? defaultAt(schema, path, value) : undefined
      const hint = fallback === undefined ? {} : { hint: `${path.join('.')} is not written; its default is ${fallback}` }
      return [{ kind: 'invalid', path, message: `${issue.code === 'custom' ? message : lowerFirst(message)}${got}`, ...hint }]
    }
  }
}

function fixedValueFault(values: readonly unknown[], path: Path, actual: unknown): SchemaFault {
  const texts = values.filter((item) => typeof item === 'string')
  const meant = typeof actual === 'string' ? didYouMean(actual, texts) : undefined
  const message = expectation(listOf(values), actual)
  return { kind: 'invalid', path, message, ...(meant === undefined ? {} : { hint: `did you mean "${meant}"?` }) }
}

function boundOf(origin: string, bound: number | bigint, comparison: string): string {
  if (origin === 'string')
    return comparison === 'at least' && bound === 1 ? 'a text that is not empty' : `a text of ${comparison} ${bound} characters`
  if (origin === 'array' || origin === 'set') return `a list of ${comparison} ${bound} ${bound === 1 ? 'item' : 'items'}`
  return `a number of ${comparison} ${bound}`
}

function typeHint(expected: string, actual: unknown, path: Path): Pick<SchemaFault, 'hint' | 'hintFromValue'> {
  if (expected === 'string' && (typeof actual === 'number' || typeof actual === 'boolean')) return { hint: 'put it in quotes' }
  if (expected === 'boolean') return { hint: 'write true or false', ...(isWord(actual) ? { hintFromValue: `write ${WORDS[actual]}` } : {}) }
  if (!NUMBERS.has(expected)) return {}
  const hint = numberHint(path)
  const hintFromValue = typeof actual === 'string' ? numberFromText(actual, path) : undefined
  return { ...(hint === undefined ? {} : { hint }), ...(hintFromValue === undefined ? {} : { hintFromValue }) }
}

/** Of YAML 1.1, and of people; YAML 1.2 takes them for text. */
const WORDS = { yes: true, on: true, true: true, no: false, off: false, false: false } as const

function isWord(value: unknown): value is keyof typeof WORDS {
  return typeof value === 'string' && Object.hasOwn(WORDS, value)
}

const NUMBERS = new Set(['number', 'int'])

function unknownKey(key: string, path: Path, schema: z.ZodType, value: unknown): SchemaFault {
  // A branch of a union that has the key is not the one that was meant.
  const known = knownKeys(schema, path, value).filter((name) => name !== key)
  const meant = didYouMean(key, known)
  const hint = meant === undefined ? keyList(known) : `did you mean "${meant}"?`
  return { kind: 'unknown-key', path: [...path, key], message: `unknown key "${key}"`, ...(hint === undefined ? {} : { hint }) }
}

function keyList(known: readonly string[]): string | undefined {
  return known.length === 0 ? undefined : `known keys: ${known.slice(0, 12).join(', ')}${known.length > 12 ? ', …' : ''}`
}

/** The branch that was most likely meant speaks for the union: the one whose faults lie deepest. */
function unionFaults(issue: Issue & { code: 'invalid_union' }, path: Path, schema: z.ZodType, value: unknown): readonly SchemaFault[] {
  if (issue.errors.length === 0) {
    // No branch was tried: the value that tells them apart belongs to none. Or more than one took it.
    if ('options' in issue && issue.options !== undefined) return [fixedValueFault(issue.options, path, at(value, path))]
    return [{ kind: 'invalid', path, message: lowerFirst(issue.message.replace(/^Invalid input: /, '')) }]
  }
  const branches = issue.errors.flatMap(withoutNesting)
  // Whoever wrote a list or a map did not mean one of some single values.
  const composite = typeof at(value, path) === 'object'
  const atRoot = (branch: readonly Issue[]): boolean =>
    branch.some(({ code, path: own }) => own.length === 0 && (code === 'invalid_type' || (code === 'invalid_value' && composite)))
  const inside = branches.filter((branch) => !atRoot(branch))
  const [nearest] = inside.toSorted((a, b) => a.length - b.length)
  if (nearest !== undefined) return nearest.flatMap((inner) => faultsOf(inner, path, schema, value))
  const expected = branches.flatMap((branch) => branch.map(expectedBy))
  return [{ kind: 'invalid', path, message: expectation([...new Set(expected)].join(' or ') || 'another value', at(value, path)) }]
}

function expectedBy(issue: Issue): string {
  if (issue.code === 'invalid_type') return typeName(issue.expected)
  return issue.code === 'invalid_value' ? listOf(issue.values) : issue.message
}

function listOf(values: readonly unknown[]): string {
  const names = values.map((item) => (typeof item === 'string' ? JSON.stringify(item) : String(item)))
  return names.length > 1 ? `one of ${names.join(', ')}` : String(names[0])
}

/** A branch that is a union itself stands for its own branches. */
function withoutNesting(branch: readonly Issue[]): readonly (readonly Issue[])[] {
  const [only] = branch
  if (branch.length === 1 && only?.code === 'invalid_union' && only.path.length === 0) return only.errors.flatMap(withoutNesting)
  return branch.length === 0 ? [] : [branch]
}

function expectation(expected: string, actual: unknown): string {
  return actual === undefined ? `missing: expected ${expected}` : `expected ${expected}, got ${describe(actual)}`
}

/** In words of a catalog file; what none of them can be keeps the name it has in code. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  tuple: 'a list',
  int: 'an integer',
  null: 'null',
  nan: '.nan',
  never: 'nothing',
  void: 'nothing',
  undefined: 'nothing',
  // Of whatever type, if only it is there.
  nonoptional: 'a value',
}

function typeName(expected: string): string {
  return Object.hasOwn(TYPE_NAMES, expected) ? String(TYPE_NAMES[expected]) : `a ${expected}`
}

function describe(actual: unknown): string {
  if (Array.isArray(actual)) return 'a list'
  if (typeof actual === 'object' && actual !== null) return 'a map'
  if (typeof actual === 'number') return String(actual)
  const text = JSON.stringify(actual) ?? String(actual)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}
