import type { ShellRead } from './execution.ts'
import { LOST_MARKER, parseRendered } from './parse-rendered.ts'
import type { CollectedText, ShellResult } from './result.ts'
import type { SandboxFacts } from './sandbox.ts'

export interface RenderOptions {
  /** Why somebody other than the deadline stopped the command; becomes one line of at most 200 characters. */
  readonly stopped?: string
  /** After a denial, offer a retry in a wider mode. */
  readonly escalation?: boolean
}

/**
 * The text of a result for a model: output first, then the facts, each marker on a line of its own and the exit last. A clean exit
 * has no marker. `aborted` has none either: callers turn it into their own error. For every result `parseRendered` gives back signal
 * and exit code (null reads as 0). See {@link parseRendered} for what a reader of text alone cannot know.
 */
export function renderResult(result: ShellResult, options: RenderOptions = {}): string {
  let text = line(result.stdout.text, ...captureMarkers(result.stdout))
  const stderrMarkers = captureMarkers(result.stderr)
  if (result.stderr.text !== '' || stderrMarkers.length > 0) {
    text = line(text, '[stderr]')
    if (result.stderr.text !== '') text += `\n${result.stderr.text}`
    text = line(text, ...stderrMarkers)
  }
  if (text === '') text = '(no output)'
  text = line(text, ...sandboxMarkers(result.sandbox, options.escalation === true))
  if (result.timedOut) text = line(text, `[timed out after ${result.timeoutMs}ms]`)
  if (options.stopped !== undefined) text = line(text, `[stopped: ${oneLine(options.stopped)}]`)
  if (result.lost === true) return line(text, LOST_MARKER)
  if (result.signal !== null) return line(text, `[killed by signal: ${result.signal}]`)
  if (result.exitCode !== null && result.exitCode !== 0) return line(text, `[exit code: ${result.exitCode}]`)
  // The command's own last words must not pass for our marker.
  return parseRendered(text).body === text ? text : `${text}\n`
}

/** The text of a consuming read for a model: the delta, and a notice when some of the output is not in it. */
export function renderRead(read: ShellRead): string {
  if (!read.lossy) return read.delta
  const paths = [read.stdoutSpillPath, read.stderrSpillPath].filter((path) => path !== undefined)
  return line(read.delta, `[some output was dropped from memory; full output: ${paths.length > 0 ? paths.join(', ') : '(unavailable)'}]`)
}

function captureMarkers(stream: CollectedText): string[] {
  const markers: string[] = []
  if (stream.truncated) markers.push(`[output truncated; full output: ${stream.spillPath ?? '(unavailable)'}]`)
  if (stream.error !== undefined) markers.push(`[output could not be read: ${oneLine(stream.error)}]`)
  return markers
}

function sandboxMarkers(facts: SandboxFacts | undefined, escalation: boolean): string[] {
  if (facts?.runnerFailed === true) {
    return [
      `[sandbox: the sandbox runner itself failed under ${facts.mode} mode — the command did not run; this is a sandbox problem, not a command failure]`,
    ]
  }
  if (facts?.denied !== true) return []
  const markers = [`[sandbox: file access denied under ${facts.mode} mode]`]
  if (escalation) {
    markers.push(
      '[sandbox: escalation available — retry this exact command once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]',
    )
  }
  return markers
}

/** Each marker on a line of its own; a newline is put in only where the text before lacks one. */
function line(text: string, ...markers: string[]): string {
  let out = text
  for (const marker of markers) out += out === '' || out.endsWith('\n') ? marker : `\n${marker}`
  return out
}

function oneLine(text: string): string {
  const characters = [...text.trim().replace(/\s+/g, ' ')]
  return characters.length <= 200 ? characters.join('') : `${characters.slice(0, 199).join('')}…`
}
