import { type ParsedRendering, parseRendered } from './parse-rendered.ts'
import { type RenderOptions, renderResult } from './render.ts'
import type { ShellResult } from './result.ts'

/** Plain JSON to store beside the text a model saw; `version` guards its shape. */
export interface ShellRecord {
  readonly version: 1
  /** What `renderResult` made of the result. */
  readonly text: string
  readonly result: ShellResult
  readonly stopped?: string
}

export function shellRecord(result: ShellResult, options: RenderOptions = {}): ShellRecord {
  return {
    version: 1,
    text: renderResult(result, options),
    result,
    ...(options.stopped !== undefined && { stopped: options.stopped }),
  }
}

/** What was stored, if it is a record of a version this code knows. */
export function readShellRecord(stored: unknown): ShellRecord | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined
  const { version, text, result } = stored as Partial<ShellRecord>
  if (version !== 1 || typeof text !== 'string' || typeof result !== 'object' || result === null) return undefined
  if (!isExitCode(result.exitCode) || !isSignal(result.signal)) return undefined
  return stored as ShellRecord
}

/** The exit facts of a stored run: the record's where there is one, else what can be read from the text. */
export function recordedFacts(text: string, stored?: unknown): ParsedRendering {
  const record = readShellRecord(stored)
  if (record === undefined) return parseRendered(text)
  return { body: parseRendered(record.text).body, exitCode: record.result.exitCode, signal: record.result.signal }
}

function isExitCode(value: unknown): boolean {
  return value === null || typeof value === 'number'
}

function isSignal(value: unknown): boolean {
  return value === null || typeof value === 'string'
}
