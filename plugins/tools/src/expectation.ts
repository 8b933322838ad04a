import type { z } from 'zod'

/** `expected A, got B`, or undefined where zod's own words have to do. */
export function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  const expected = whatWasExpected(issue)
  return expected === undefined ? undefined : `expected ${expected}, got ${describe(issue.input)}`
}

function whatWasExpected(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typePhrase(String(issue.expected))
    case 'invalid_value':
      return oneOf(Array.isArray(issue.values) ? (issue.values as unknown[]) : [])
    case 'too_small':
      return sizePhrase(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')
    case 'too_big':
      return sizePhrase(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')
    case 'not_multiple_of':
      return `a multiple of ${String(issue.divisor)}`
    case 'invalid_format':
      return issue.format === 'regex' ? `text that matches ${String(issue.pattern)}` : withArticle(`valid ${String(issue.format)}`)
    case 'invalid_union':
      return unionPhrase(issue)
    default:
      return undefined
  }
}

function sizePhrase(issue: z.core.$ZodRawIssue, bound: unknown, relation: string): string {
  const limit = issue.exact === true ? `exactly ${String(bound)}` : `${relation} ${String(bound)}`
  switch (issue.origin) {
    case 'string':
      return issue.exact !== true && relation === 'at least' && Number(bound) === 1 ? 'a non-empty string' : `a string of ${limit} characters`
    case 'array':
    case 'set':
      return `an array of ${limit} items`
    case 'int':
      return `an integer of ${limit}`
    default:
      if (relation === 'more than' && Number(bound) === 0) return 'a positive number'
      return `a number of ${limit}`
  }
}

/** Each branch that refused the value as a whole says what it would have taken. */
function unionPhrase(issue: z.core.$ZodRawIssue): string | undefined {
  const branches = Array.isArray(issue.errors) ? (issue.errors as (readonly z.core.$ZodIssue[])[]) : []
  const wanted = branches.flatMap((issues) => {
    const [first] = issues
    const phrase = issues.length === 1 && first?.path.length === 0 ? /^expected (.+), got /s.exec(first.message)?.[1] : undefined
    return phrase === undefined ? [] : [phrase]
  })
  return wanted.length === 0 || wanted.length < branches.length ? undefined : [...new Set(wanted)].join(' or ')
}

function oneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, 20).map(describe)
  if (values.length > listed.length) listed.push('…')
  return listed.length === 1 ? String(listed[0]) : `one of ${listed.join(', ')}`
}

function typePhrase(type: string): string {
  if (type === 'int') return 'an integer'
  return type === 'null' || type === 'undefined' || type === 'never' || type === 'nan' ? type : withArticle(type)
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** The arguments are a JSON copy, so a value is one of these or not there. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  const shown = typeof value === 'string' && value.length > 40 ? `${value.slice(0, 40)}…` : value
  return JSON.stringify(shown) ?? String(value)
}
