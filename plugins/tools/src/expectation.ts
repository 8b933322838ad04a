import type { z } from 'zod'
import { expected } from './text.ts'

/** `expected A, got B`, or undefined where zod's own words have to do. */
export function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  const wanted = wantedBy(issue)
  return wanted === undefined ? undefined : expected.butGot(wanted, describe(issue.input))
}

function wantedBy(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return expected.type(String(issue.expected))
    case 'invalid_value':
      return oneOf(Array.isArray(issue.values) ? (issue.values as unknown[]) : [])
    case 'too_small':
      return ofSize(issue, expected.atLeast(issue.minimum, issue.inclusive !== false), issue.minimum)
    case 'too_big':
      return ofSize(issue, expected.atMost(issue.maximum, issue.inclusive !== false), issue.maximum)
    case 'not_multiple_of':
      return expected.multiple(issue.divisor)
    case 'invalid_format':
      return issue.format === 'regex' ? expected.pattern(issue.pattern) : expected.format(issue.format)
    case 'invalid_union':
      return ofBranches(Array.isArray(issue.errors) ? (issue.errors as (readonly z.core.$ZodIssue[])[]) : [])
    default:
      return undefined
  }
}

function ofSize(issue: z.core.$ZodRawIssue, relation: string, bound: unknown): string {
  const range = issue.exact === true ? expected.exactly(bound) : relation
  switch (issue.origin) {
    case 'string':
      return range === expected.atLeast(1, true) ? expected.notEmpty : expected.characters(range)
    case 'array':
    case 'set':
      return expected.items(range)
    case 'int':
      return expected.integer(range)
    default:
      return range === expected.atLeast(0, false) ? expected.positive : expected.number(range)
  }
}

/** Each branch that refused the value as a whole says what it would have taken. */
function ofBranches(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const wanted = branches.flatMap((issues) => {
    const [first] = issues
    return (issues.length === 1 && first?.path.length === 0 && expected.wanted(first.message)) || []
  })
  return wanted.length === 0 || wanted.length < branches.length ? undefined : expected.either([...new Set(wanted)])
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, 20).map(describe)
  return expected.values(values.length > shown.length ? [...shown, '…'] : shown)
}

/** Of arguments, which are a JSON copy, a value is one of these or not there; what a plugin gives may be anything. */
export function describe(value: unknown): string {
  if (value === undefined) return expected.nothing
  if (Array.isArray(value)) return expected.anArray
  if (typeof value === 'object' && value !== null) return expected.anObject
  if (/^(bigint|function|symbol)$/.test(typeof value)) return expected.type(typeof value)
  const shown = typeof value === 'string' && value.length > 40 ? `${value.slice(0, 40)}…` : value
  return JSON.stringify(shown)
}
