import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Longer than the slowest measurement by far: a child that hangs must not hang the bench. */
const LONGEST_MS = 300_000

/**
 * Four times the default: cordis walks a chain by recursion, and 2,000 links are about as many as the default holds, now more, now
 * fewer. Half of what Linux gives the main thread.
 */
const STACK_KIB = 3936

/**
 * Runs this program once more, in a fresh process, and returns the JSON it prints: nothing is compiled, cached or allocated there
 * by an earlier measurement. Without source maps, which would make every stack trace dear.
 */
export async function measureInChild<T>(args: readonly string[], program = process.argv[1] ?? ''): Promise<T> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const { stdout } = await run(process.execPath, ['--expose-gc', `--stack-size=${STACK_KIB}`, program, ...args], { env, timeout: LONGEST_MS })
  return JSON.parse(stdout) as T
}

/** A full collection, twice: the first may only run finalizers. Needs `--expose-gc`. */
export function collectGarbage(): void {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('needs node --expose-gc')
  gc()
  gc()
}
