import { onTestFinished } from 'vitest'
import type { SubprocessHandle } from '../handle.ts'
import type { OutputReader } from '../output-reader.ts'
import type { Collect, SpawnSpec } from '../spawn-spec.ts'
import type { Subprocess } from '../subprocess.ts'

/** A provider, opened for one test. Its world has a POSIX `sh` and the usual small programs. */
export interface SubprocessUnderTest {
  readonly subprocess: Subprocess
  /** Absolute path of an empty directory in the provider's world; the test may fill it. */
  readonly directory: string
  /** Ends everything the test left running, and waits for it. */
  close(): Promise<void>
}

export type Open = () => Promise<SubprocessUnderTest>

export const tail: Collect = { maxBytes: 65_536 }
export const spilling: Collect = { maxBytes: 1_000, spill: { maxBytes: 64 * 1_024 ** 2 } }

/** The provider for one test, and specs in which only what matters is written down. */
export interface Bench extends SubprocessUnderTest {
  spec(argv: readonly [string, ...string[]], change?: Partial<SpawnSpec>): SpawnSpec
  spawn(argv: readonly [string, ...string[]], change?: Partial<SpawnSpec>): SubprocessHandle
  sh(script: string, change?: Partial<SpawnSpec>): SubprocessHandle
}

export async function bench(open: Open): Promise<Bench> {
  const opened = await open()
  onTestFinished(() => opened.close())
  const spec: Bench['spec'] = (argv, change = {}) => ({
    argv,
    cwd: opened.directory,
    stdin: 'ignore',
    stdout: tail,
    stderr: tail,
    graceMs: 1_000,
    ...change,
  })
  const spawn: Bench['spawn'] = (argv, change) => opened.subprocess.spawn(spec(argv, change))
  return { ...opened, close: () => opened.close(), spec, spawn, sh: (script, change) => spawn(['sh', '-c', script], change) }
}

/** The reader of a stream that the spec collects. */
export function collected(handle: SubprocessHandle, stream: 'stdout' | 'stderr' = 'stdout'): OutputReader {
  const reader = handle.output[stream]
  if (reader === undefined) throw new Error(`there is no reader for ${stream}`)
  return reader
}

/** Everything from an offset on, by chained reads. */
export function readAll(reader: OutputReader, from = 0, maxBytes?: number): string {
  let text = ''
  for (let offset = from; ; ) {
    const read = reader.readFrom(offset, maxBytes)
    if (read.error !== undefined) throw new Error(read.error)
    if (read.text === '') return text
    text += read.text
    offset = read.nextOffset
  }
}

/** Resolves with everything so far once it contains `text`. */
export async function shows(handle: SubprocessHandle, text: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<string> {
  const reader = collected(handle, stream)
  for (;;) {
    const size = reader.size()
    const all = readAll(reader, reader.earliest())
    if (all.includes(text)) return all
    if (!(await reader.changed(size, AbortSignal.timeout(10_000)))) throw new Error(`${JSON.stringify(text)} never came, only ${JSON.stringify(all)}`)
  }
}
