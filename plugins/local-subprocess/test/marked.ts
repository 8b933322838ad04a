import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { LinuxTable } from '../src/tree/linux-table.ts'

/** All processes with a cookie of the runtime. */
export async function marked(nonce: string): Promise<number[]> {
  const snapshot = await new LinuxTable(COOKIE_VARIABLE).snapshot()
  if (snapshot === undefined) throw new Error('cannot read the process table')
  return [...snapshot.entries.values()].filter((entry) => !entry.zombie && snapshot.cookie(entry)?.startsWith(`${nonce}.`)).map(({ pid }) => pid)
}

/** What a test may have left. */
export async function killMarked(nonce: string): Promise<void> {
  for (const pid of await marked(nonce)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
