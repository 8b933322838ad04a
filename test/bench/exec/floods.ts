import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { collectGarbage } from '../measuring/child.ts'
import { collecting, discarding, openTenon } from './systems.ts'

export type Flood = {
  readonly ms: number
  /** MiB above what the host had before, at most. */
  readonly rss: number
  /** Milliseconds, 99th percentile. */
  readonly delay: number
}

const LARGEST_FILE = 4 * 1024 ** 3
const argv = (bytes: number) => ['head', '-c', String(bytes), '/dev/zero'] as const
const bytewise = (count: number) => ['dd', 'if=/dev/zero', 'bs=1', `count=${count}`, 'status=none'] as const

/**
 * Where the files go: into memory where there is such a place. A disk that still carries the last flood away would be measured instead, and
 * what comes first would seem slower than what comes second.
 */
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

/** One flood in this process, by what takes it. */
export const floods = {
  bare: (bytes: number) => measured(() => discarding(argv(bytes))),
  file: (bytes: number) => measured(() => toFile(bytes)),
  tail: (bytes: number) => bySubprocess(argv(bytes), bytes),
  spill: (bytes: number) => bySubprocess(argv(bytes), bytes, LARGEST_FILE),
  shellTail: (bytes: number) => byShell(bytes, 64_000),
  shellSpill: (bytes: number) => byShell(bytes, LARGEST_FILE),
  bytesBare: (count: number) => measured(() => discarding(bytewise(count))),
  bytes: (count: number) => bySubprocess(bytewise(count), count, LARGEST_FILE),
} as const

async function bySubprocess(command: readonly [string, ...string[]], bytes: number, maxSpillBytes?: number): Promise<Flood> {
  await using tenon = await openTenon()
  await tenon.subprocess.spawn(collecting(['true'], maxSpillBytes)).done
  return await measured(async () => {
    const handle = tenon.subprocess.spawn(collecting(command, maxSpillBytes))
    await handle.done
    const { stdout } = handle.output
    if (stdout?.size() !== bytes) throw new Error(`${stdout?.size()} bytes arrived, not ${bytes}`)
    return () => check(stdout.spillPath, bytes, maxSpillBytes !== undefined && bytes > 64_000)
  })
}

async function byShell(bytes: number, maxSpillBytes: number): Promise<Flood> {
  await using tenon = await openTenon(maxSpillBytes)
  const { shell } = tenon
  const run = async (command: string) => (await shell.execute(shell.resolve({ command, timeoutMs: 600_000 }))).result()
  await run('true')
  return await measured(async () => {
    const { stdout } = await run(argv(bytes).join(' '))
    if (stdout.bytes !== bytes) throw new Error(`${stdout.bytes} bytes arrived, not ${bytes}`)
    return () => check(stdout.spillPath, bytes, maxSpillBytes > bytes)
  })
}

/** The same child with its standard output in a file, as a shell would give it. Resolves with what removes the file. */
async function toFile(bytes: number): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'))
  const descriptor = openSync(join(folder, 'out'), 'wx')
  const [file, ...args] = argv(bytes)
  await new Promise((resolve, reject) => {
    spawn(file, args, { stdio: ['ignore', descriptor, 'ignore'] })
      .once('error', reject)
      .once('close', resolve)
  })
  closeSync(descriptor)
  return () => rmSync(folder, { recursive: true })
}

/** What `work` resolves with is called behind the clock. */
async function measured(work: () => Promise<unknown>): Promise<Flood> {
  collectGarbage()
  const before = process.memoryUsage.rss()
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 10)
  // What it records is the time from one tick to the next, its own resolution included.
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const began = performance.now()
  const finish = await work()
  const ms = performance.now() - began
  delay.disable()
  clearInterval(sampling)
  most = Math.max(most, process.memoryUsage.rss())
  if (typeof finish === 'function') finish()
  return { ms, rss: (most - before) / 1024 ** 2, delay: Math.max(0, delay.percentile(99) / 1e6 - 1) }
}

function check(path: string | undefined, bytes: number, isSpilled: boolean): void {
  if (!isSpilled) return
  const size = path === undefined ? undefined : statSync(path).size
  if (size !== bytes) throw new Error(`the file has ${size} bytes, not ${bytes}`)
}
