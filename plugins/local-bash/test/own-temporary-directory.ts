import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Until the end of the test, temporary files of this process are in a directory of its own: others run executors at the same time. */
export function ownTemporaryDirectory(): string {
  const before = process.env.TMPDIR
  const directory = mkdtempSync(join(tmpdir(), 'tenon-bash-'))
  process.env.TMPDIR = directory
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true })
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  return directory
}
