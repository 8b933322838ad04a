import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

/** What one program may take while the host ends. */
const SYNC_MS = 2_000

/** A listing of thousands of processes. */
const OUTPUT_BYTES = 16 * 1_024 ** 2

const execute = promisify(execFile)

/** Runs a program of the system; resolves with its output. Rejects unless it ends with 0. */
export async function runProgram(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(file, [...args], { maxBuffer: OUTPUT_BYTES, windowsHide: true, env: plainEnvironment() })
  return stdout
}

/** Blocks meanwhile. @throws unless it ends with 0 */
export function runProgramSync(file: string, args: readonly string[]): string {
  return execFileSync(file, [...args], {
    maxBuffer: OUTPUT_BYTES,
    windowsHide: true,
    timeout: SYNC_MS,
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  })
}

/** Dates in one language. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' }
}
