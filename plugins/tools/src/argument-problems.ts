import { didYouMean, type JsonObject } from '@tenon/kernel'
import type { Issue, JsonSchema } from '@tenon/tools'
import type { z } from 'zod'
import { expectation } from './expectation.ts'
import { formatPath, type JsonPath } from './json-path.ts'
import { propertiesAt } from './json-schema.ts'
import { text } from './text.ts'

/** One thing that is wrong with the arguments, and the line a model reads about it. */
export interface Problem extends Issue {
  readonly line: string
}

export function invalidArgument(path: JsonPath, message: string): Problem {
  return { path, message, line: text.invalid(formatPath(path), message) }
}

/** Asked by zod wherever the author of the schema gave no message. */
export const zodErrors: z.core.$ZodErrorMap = (issue) => expectation(issue)

export function zodProblems(issues: readonly z.core.$ZodIssue[], args: JsonObject, schema: JsonSchema, prefix: JsonPath = []): readonly Problem[] {
  return issues.flatMap((issue): Problem | readonly Problem[] => {
    const path = [...prefix, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))]
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownArgument([...path, key], args, schema))
    if (issue.code === 'invalid_union') {
      const branch = likeliest(issue.errors)
      if (branch !== undefined) return zodProblems(branch, args, schema, path)
    }
    return invalidArgument(path, issue.message)
  })
}

function unknownArgument(path: JsonPath, args: JsonObject, schema: JsonSchema): Problem {
  const parent = path.slice(0, -1)
  // At the top a key that was given already is not the one that was meant.
  const candidates = propertiesAt(schema, parent).filter((key) => parent.length > 0 || !Object.hasOwn(args, key))
  const meant = didYouMean(String(path.at(-1)), candidates)
  const message = text.unknownArgument(formatPath(path), meant)
  return { path, message, line: message }
}

/** The one branch of a union whose outer shape fits: its faults are the ones that help. */
function likeliest(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const fitting = branches.filter((issues) => issues.length > 0 && issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'))
  return fitting.length === 1 ? fitting[0] : undefined
}
