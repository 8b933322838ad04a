import { LOOK_BACK_BYTES, NewestLine } from '@tenon/newest-line'
import type { ShellExecution } from '@tenon/shell'

type Reader = ShellExecution['observed']['stdout']

/**
 * Tells the newest line of output as it comes, until the returned function is called. Asks the readers nothing while they do not change.
 * A reader that fails ends the reports, and nothing else: the result tells of it.
 */
export function reportProgress(execution: ShellExecution, report: (line: string) => void): () => void {
  const newest = new NewestLine(report)
  const watch = async (reader: Reader): Promise<void> => {
    try {
      for (let seen = 0; await reader.changed(seen, newest.signal); seen = reader.size()) newest.grown(() => endOf(reader))
    } catch {
      newest.end()
    }
  }
  void watch(execution.observed.stdout)
  void watch(execution.observed.stderr)
  return () => newest.end()
}

function endOf(reader: Reader): string {
  return reader.readFrom(Math.max(reader.earliest(), reader.size() - LOOK_BACK_BYTES), LOOK_BACK_BYTES).text
}
