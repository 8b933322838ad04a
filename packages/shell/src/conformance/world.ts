import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputReader } from '@tenon/subprocess'
import { expect, TestRunner } from 'vitest'
import type { Shell, ShellExecution, ShellRequest, ShellResult } from '../index.ts'
import type { Step } from './step.ts'

/** Settings every executor has; what a test leaves out is the provider's default. */
export interface ShellSettings {
  readonly cwd?: string
  readonly timeoutMs?: number
  readonly maxTimeoutMs?: number
  readonly maxOutputBytes?: number
  readonly maxSpillBytes?: number
  readonly graceMs?: number
  readonly executable?: string
  readonly env?: Readonly<Record<string, string>>
}

/** One executor, active over a process provider of its own. */
export interface ShellWorld {
  readonly shell: Shell
  /** Activates the executor anew, with other settings if given; resolves with the new provision. */
  reload(settings?: ShellSettings): Promise<Shell>
  /** Ends the row of the process provider, and with it every process. */
  endProcesses(): Promise<void>
  close(): Promise<void>
}

export interface ShellUnderTest {
  readonly name: string
  open(settings?: ShellSettings): Promise<ShellWorld>
  /** A command text that does this. Throws an UnsupportedStep for what the shell cannot do; the test is then reported as skipped. */
  script(steps: readonly Step[]): string
  /** A command text of at least so many characters that prints `text` and exits with `code`. */
  longScript(length: number, text: string, code: number): string
  /** How many commands stand for many; 2,000 unless a start of the shell is slow. */
  readonly many?: number
}

/** A shell under test has no words for a step. */
export class UnsupportedStep extends Error {
  constructor(shell: string, step: Step['do']) {
    super(`${shell} has no words for the step "${step}"`)
  }
}

/** A world that is closed at the end, a directory that is removed, and the verbs the tests are written in. */
export interface Bench extends ShellWorld {
  readonly directory: string
  script(...steps: readonly Step[]): string
  start(steps: readonly Step[] | string, request?: Omit<ShellRequest, 'command'>): Promise<ShellExecution>
  run(steps: readonly Step[] | string, request?: Omit<ShellRequest, 'command'>): Promise<ShellResult>
}

export function benchOf(under: ShellUnderTest): (settings: ShellSettings, body: (bench: Bench) => Promise<void>) => Promise<void> {
  return async (settings, body) => {
    const directory = await mkdtemp(join(tmpdir(), 'tenon-conformance-'))
    const world = await under.open(settings)
    const start: Bench['start'] = (steps, request = {}) =>
      world.shell.execute(world.shell.resolve({ command: typeof steps === 'string' ? steps : under.script(steps), ...request }))
    try {
      await body({
        ...world,
        directory,
        script: (...steps) => under.script(steps),
        start,
        run: async (steps, request) => (await start(steps, request)).result(),
      })
    } catch (error) {
      if (!(error instanceof UnsupportedStep)) throw error
      TestRunner.getCurrentTest()?.context.skip(error.message)
    } finally {
      await world.close()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

/** Waits until a stream holds the text. */
export async function seen(reader: OutputReader, text: string): Promise<void> {
  for (;;) {
    const size = reader.size()
    if (reader.readFrom(reader.earliest()).text.includes(text)) return
    const more = await reader.changed(size, AbortSignal.timeout(20_000))
    if (!more) expect(reader.readFrom(reader.earliest()).text).toContain(text)
  }
}
