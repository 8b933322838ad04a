import { readFile } from 'node:fs/promises'
import type { CollectedText, ShellExecution, ShellResult } from '@tenon/shell'
import type { Stream } from './streams.ts'
import { MAX_OUTPUT_BYTES, MAX_SPILL_BYTES } from './world.ts'

/** How a command may end. */
export interface Ending {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Without one the stream is not judged. */
  readonly stdout?: Stream
  readonly stderr?: Stream
  /** The streams may end anywhere. */
  readonly isCut?: boolean
}

/** What ended it, as the one who did it knows. */
export type Cause = 'nothing' | 'deadline' | 'abort' | 'kill'

/** Every fact that does not fit one of the endings. */
export async function judge(execution: ShellExecution, result: ShellResult, cause: Cause, endings: readonly Ending[]): Promise<string[]> {
  const faults: string[] = []
  const expect = (what: string, is: unknown, expected: unknown): void => {
    if (is !== expected) faults.push(`${what} is ${JSON.stringify(is)}, not ${JSON.stringify(expected)}`)
  }
  expect('timedOut', result.timedOut, cause === 'deadline')
  expect('aborted', result.aborted, cause === 'abort')
  expect('status', execution.status, cause === 'nothing' && result.exitCode !== null ? 'completed' : 'killed')
  expect("the handle's exit code", execution.exitCode, result.exitCode)
  expect("the handle's signal", execution.signal, result.signal)
  expect('kill() after the end', execution.kill(), false)
  expect('what result() gives when it is asked again', await execution.result(), result)
  if (!(result.durationMs >= 0)) faults.push(`durationMs is ${result.durationMs}`)
  if (cause === 'deadline' && result.durationMs < result.timeoutMs - 2) faults.push(`timed out after ${result.durationMs} of ${result.timeoutMs} ms`)
  const fitting = endings.filter(({ exitCode, signal }) => exitCode === result.exitCode && signal === result.signal)
  if (fitting.length === 0) {
    const allowed = endings.map(({ exitCode, signal }) => signal ?? exitCode ?? 'never ran').join(' or ')
    return [...faults, `ended with ${result.signal ?? result.exitCode ?? 'nothing'}, not with ${allowed}; stderr: ${result.stderr.text.slice(-200)}`]
  }
  const verdicts = await Promise.all(fitting.map((ending) => judgeStreams(result, ending)))
  return [...faults, ...(verdicts.find((verdict) => verdict.length === 0) ?? verdicts[0] ?? [])]
}

async function judgeStreams({ stdout, stderr }: ShellResult, ending: Ending): Promise<string[]> {
  return [
    ...(ending.stdout === undefined ? [] : await judgeText('stdout', stdout, ending.stdout, ending.isCut)),
    ...(ending.stderr === undefined ? [] : await judgeText('stderr', stderr, ending.stderr, ending.isCut)),
  ]
}

async function judgeText(name: string, told: CollectedText, stream: Stream, isCut = false): Promise<string[]> {
  const { bytes, truncated, spillPath, error } = told
  if (error !== undefined) return [`${name} could not be read: ${error}`]
  if (isCut ? bytes > stream.bytes : bytes !== stream.bytes)
    return [`${name} has ${bytes} bytes, not ${stream.bytes}: ${JSON.stringify(told.text.slice(-200))}`]
  const faults: string[] = []
  if (truncated !== bytes > MAX_OUTPUT_BYTES) faults.push(`${name}: truncated is ${truncated} at ${bytes} bytes`)
  if (told.text !== tailText(stream, bytes)) faults.push(`${name}: another text: …${JSON.stringify(told.text.slice(-80))}`)
  const isSpilled = bytes > MAX_OUTPUT_BYTES && bytes <= MAX_SPILL_BYTES
  // What a command that was stopped has left may still write when it is told of: the path is there only while all of it is in the file.
  const mayWrite = isCut && isSpilled && spillPath === undefined
  if (isSpilled !== (spillPath !== undefined) && !mayWrite) faults.push(`${name}: spillPath is ${spillPath} at ${bytes} bytes`)
  if (spillPath !== undefined) faults.push(...(await judgeFile(name, spillPath, stream, bytes)))
  return faults
}

async function judgeFile(name: string, path: string, stream: Stream, bytes: number): Promise<string[]> {
  try {
    const content = await readFile(path)
    if (content.length !== bytes) return [`${name}: ${bytes} bytes were told, the file has ${content.length}`]
    return content.equals(stream.slice(0, bytes)) ? [] : [`${name}: the file has another content`]
  } catch (error) {
    return [`${name}: the file cannot be read: ${String(error)}`]
  }
}

/** The last bytes, from the first whole character on. */
function tailText(stream: Stream, bytes: number): string {
  const tail = stream.slice(Math.max(0, bytes - MAX_OUTPUT_BYTES), bytes)
  let start = 0
  while (bytes > MAX_OUTPUT_BYTES && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start++
  return tail.toString('utf8', start)
}
