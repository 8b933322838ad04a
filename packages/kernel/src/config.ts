import type { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import { asError, type Json, KernelError } from './errors.ts'
import type { Plugin } from './plugin.ts'

/** @throws KernelError CONFIG_INVALID with every issue; its details are `[{ path, message }]`. */
export function parseConfig(plugin: Plugin, input: unknown, row: string): unknown {
  if (plugin.config === undefined) {
    if (input === undefined || (typeof input === 'object' && input !== null && Object.keys(input).length === 0)) return undefined
    throw invalid(row, [{ path: [], message: `plugin "${plugin.name}" takes no config` }])
  }
  let parsed: z.ZodSafeParseResult<unknown>
  try {
    parsed = plugin.config.safeParse(input)
  } catch (error) {
    throw invalid(row, [{ path: [], message: asError(error).message }], error)
  }
  if (parsed.success) return parsed.data
  throw invalid(
    row,
    parsed.error.issues.flatMap((issue) => explainIssue(plugin.config, issue)),
    parsed.error,
  )
}

interface ConfigIssue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

function invalid(row: string, issues: readonly ConfigIssue[], cause?: unknown): KernelError {
  const lines = issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
  const details = issues.map(({ path, message }): Json => ({ path, message }))
  return new KernelError('CONFIG_INVALID', `row "${row}": invalid config: ${lines.join('; ')}`, { cause, details })
}

/** One issue of zod's, or one for each unknown key it found. */
function explainIssue(schema: z.ZodType | undefined, issue: z.core.$ZodIssue): ConfigIssue[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  const known = keysAt(schema, path)
  return issue.keys.map((key) => {
    const meant = didYouMean(key, known)
    return { path: [...path, key], message: meant === undefined ? `unknown key "${key}"` : `unknown key "${key}"; did you mean "${meant}"?` }
  })
}

/** The keys of the object schema at a path, looking through defaults, optionals and the like. */
function keysAt(schema: unknown, path: readonly (string | number)[]): string[] {
  let at = schema as { def?: Record<string, unknown>; shape?: Record<string, unknown> } | undefined
  const steps = [...path]
  for (;;) {
    const inner = at?.def?.innerType ?? at?.def?.in
    if (inner !== undefined) at = inner as typeof at
    else if (steps.length === 0) return Object.keys(at?.shape ?? {})
    else at = (at?.shape?.[String(steps.shift())] ?? at?.def?.element ?? at?.def?.valueType) as typeof at
    if (at === undefined) return []
  }
}
