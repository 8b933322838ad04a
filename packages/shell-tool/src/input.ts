import { z } from 'zod'
import { fields, type Offers, problems } from './text.ts'

export interface ShellToolInput {
  readonly command: string
  readonly description: string
  /** A positive integer. */
  readonly timeoutMs?: number | undefined
  readonly workdir?: string | undefined
  readonly run_in_background?: boolean | undefined
}

const withoutNul = (value: string): boolean => !value.includes('\0')
const notBlank = (value: string): boolean => value.trim() !== ''

function text(description: string) {
  return z
    .string({ error: problems.blank })
    .refine(notBlank, { error: problems.blank })
    .refine(withoutNul, { error: problems.nul })
    .describe(description)
}

function timeout(description: string) {
  const error = (issue: { readonly input?: unknown }): string => problems.notPositive(shown(issue.input))
  // A fraction is rounded up: 0.5 is the shortest wait there is, not none.
  return z.number({ error }).positive({ error }).transform(Math.ceil).optional().describe(description)
}

export function shellToolInput(offers: Offers) {
  const base = z.strictObject({
    command: text(fields.command),
    description: text(fields.description),
    timeoutMs: timeout(fields.timeoutMs(offers)),
    workdir: z.string().refine(withoutNul, { error: problems.nul }).optional().describe(fields.workdir),
  })
  return offers.background ? base.extend({ run_in_background: z.boolean().optional().describe(fields.runInBackground) }) : base
}

/** The arguments are JSON, so this never throws. */
function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing'
  return json.length > 42 ? `${json.slice(0, 41).replace(/[\ud800-\udbff]$/, '')}…` : json
}
