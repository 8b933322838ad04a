import type { JsonObject } from '@tenon/kernel'
import type { ShellExecution } from '@tenon/shell'
import { ToolError } from '@tenon/tools'
import { aborted } from './text.ts'

const TAIL_BYTES = 8_192

/** What is known of a command whose call was aborted: for hosts and logs, not for the model. */
export function commandAborted(execution: ShellExecution | undefined): ToolError {
  return new ToolError('TOOL_ABORTED', aborted, execution === undefined ? {} : { details: lastWords(execution) })
}

/** The last 8,192 bytes of output, exit facts if known, spill paths. */
function lastWords(execution: ShellExecution): JsonObject {
  const { stdout, stderr } = execution.observed
  const [out, err] = [tail(stdout), tail(stderr)]
  const output = err === '' ? out : `${out}${out === '' || out.endsWith('\n') ? '' : '\n'}[stderr]\n${err}`
  return {
    output: lastBytes(output),
    status: execution.status,
    ...(execution.status === 'running'
      ? {}
      : { exitCode: execution.exitCode, signal: execution.signal, ...(execution.lost === true && { lost: true }) }),
    ...(stdout.spillPath === undefined ? {} : { stdoutSpillPath: stdout.spillPath }),
    ...(stderr.spillPath === undefined ? {} : { stderrSpillPath: stderr.spillPath }),
  }
}

type Reader = ShellExecution['observed']['stdout']

function tail(reader: Reader): string {
  return reader.readFrom(Math.max(reader.earliest(), reader.size() - TAIL_BYTES), TAIL_BYTES).text
}

/** Whole characters. */
function lastBytes(text: string): string {
  const bytes = Buffer.from(text)
  let start = Math.max(0, bytes.length - TAIL_BYTES)
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.toString('utf8', start)
}
