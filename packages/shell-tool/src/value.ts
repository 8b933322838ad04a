import type { CollectedText, SandboxFacts, ShellResult } from '@tenon/shell'
import { z } from 'zod'

/**
 * What a call of a shell tool results in. `aborted` is false in every delivered value, since an abort is an error.
 *
 * `timeoutIgnored`: the call gave a `timeoutMs`, which a background job does not have. `timeoutMs` of a promoted command: the bound, or the
 * time waited if a person promoted it. `stopped`: the reason of whoever stopped the command from outside the call.
 */
export type ShellToolValue =
  | { readonly kind: 'background'; readonly jobId: string; readonly timeoutIgnored?: true }
  | { readonly kind: 'promoted'; readonly jobId: string; readonly timeoutMs: number; readonly output: string }
  | ForegroundValue
export type ForegroundValue = { readonly kind: 'foreground'; readonly stopped?: string } & Omit<ShellResult, 'aborted'> & { readonly aborted: false }

/** Of named fields only: what else an executor tells is not part of the value. */
export function foregroundValue(result: ShellResult, stopped?: string): ForegroundValue {
  const { exitCode, signal, lost, timedOut, timeoutMs, durationMs, stdout, stderr, sandbox } = result
  return {
    kind: 'foreground',
    exitCode,
    signal,
    ...(lost === true && { lost }),
    timedOut,
    aborted: false,
    timeoutMs,
    durationMs: Math.round(durationMs),
    stdout: collectedText(stdout),
    stderr: collectedText(stderr),
    ...(sandbox === undefined ? {} : { sandbox: sandboxFacts(sandbox) }),
    ...(stopped === undefined ? {} : { stopped }),
  }
}

/** Of a command that was never started. */
export function neverRan(
  facts: { readonly timedOut: boolean; readonly timeoutMs: number; readonly durationMs: number },
  stopped?: string,
): ForegroundValue {
  const nothing = { text: '', bytes: 0, truncated: false }
  return foregroundValue({ exitCode: null, signal: null, aborted: false, stdout: nothing, stderr: nothing, ...facts }, stopped)
}

function collectedText({ text, bytes, truncated, spillPath, error }: CollectedText): CollectedText {
  return { text, bytes, truncated, ...(spillPath === undefined ? {} : { spillPath }), ...(error === undefined ? {} : { error }) }
}

function sandboxFacts({ mode, denied, enforcement, runnerFailed }: SandboxFacts): SandboxFacts {
  return { mode, denied, ...(enforcement === undefined ? {} : { enforcement }), ...(runnerFailed === undefined ? {} : { runnerFailed }) }
}

const size = z.int().nonnegative()
const collected = z.strictObject({
  text: z.string(),
  bytes: size,
  truncated: z.boolean(),
  spillPath: z.string().optional(),
  error: z.string().optional(),
})
const mode = z.enum(['read-only', 'workspace-write', 'danger-full-access'])

export const foregroundSchema = z.strictObject({
  kind: z.literal('foreground'),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  lost: z.literal(true).optional(),
  timedOut: z.boolean(),
  aborted: z.literal(false),
  timeoutMs: size,
  durationMs: z.number().nonnegative(),
  stdout: collected,
  stderr: collected,
  sandbox: z
    .strictObject({ mode, denied: z.boolean(), enforcement: z.enum(['full', 'partial']).optional(), runnerFailed: z.boolean().optional() })
    .optional(),
  stopped: z.string().optional(),
})

export const jobBackedSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('background'), jobId: z.string(), timeoutIgnored: z.literal(true).optional() }),
    z.strictObject({ kind: z.literal('promoted'), jobId: z.string(), timeoutMs: size, output: z.string() }),
    foregroundSchema,
  ])
  // Every branch is an object; MCP wants to read that at the root.
  .meta({ type: 'object' })
