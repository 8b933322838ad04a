import type { ShellExecution } from '@tenon/shell'

type Reader = ShellExecution['observed']['stdout']

const INTERVAL_MS = 250
const LOOK_BACK_BYTES = 1_024
const MAX_CHARACTERS = 200

/**
 * Tells the newest line of output as it comes, at most four times a second, until the returned function is called. Asks the readers
 * nothing while they do not change. A reader that fails ends the reports, and nothing else: the result tells of it.
 */
export function reportProgress(execution: ShellExecution, report: (line: string) => void): () => void {
  const ending = new AbortController()
  const { signal } = ending
  let timer: NodeJS.Timeout | undefined
  let last = ''
  let newest: Reader | undefined
  const tell = (): void => {
    timer = undefined
    const line = newest === undefined || signal.aborted ? '' : newestLine(newest)
    if (line === '' || line === last) return
    last = line
    timer = setTimeout(() => {
      try {
        tell()
      } catch {
        ending.abort()
      }
    }, INTERVAL_MS)
    report(line)
  }
  const watch = async (reader: Reader): Promise<void> => {
    try {
      for (let seen = 0; await reader.changed(seen, signal); seen = reader.size()) {
        newest = reader
        // While the timer runs it will find the newest line by itself.
        if (timer === undefined) tell()
      }
    } catch {
      ending.abort()
    }
  }
  void watch(execution.observed.stdout)
  void watch(execution.observed.stderr)
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => ending.abort()
}

/** The last line that is not blank, finished or not. */
function newestLine(reader: Reader): string {
  const { text } = reader.readFrom(Math.max(reader.earliest(), reader.size() - LOOK_BACK_BYTES), LOOK_BACK_BYTES)
  const line =
    text
      .trimEnd()
      .split(/\r?\n|\r/)
      .at(-1) ?? ''
  const characters = [...line.trim()]
  return characters.length <= MAX_CHARACTERS ? characters.join('') : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}
