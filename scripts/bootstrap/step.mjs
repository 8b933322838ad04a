import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** A step ended badly; the message says which, and what it printed. */
export class StepFailed extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode) {
    super(message)
    this.name = 'StepFailed'
    this.exitCode = exitCode
  }
}

/**
 * Runs one program to its end. A signal to this process goes on to the program, and counts once the program has ended: nobody is
 * left behind, and nothing is written after the caller is told.
 *
 * @param {string} name what people call it
 * @param {readonly string[]} argv
 * @param {{
 *   cwd: string,
 *   env?: NodeJS.ProcessEnv,
 *   shell?: boolean,
 *   output?: 'inherit' | 'on failure',
 *   started?: (pid: number | undefined) => void,
 * }} options `output`: shown as it comes (default), or only with a failure
 * @returns {Promise<void>} rejects with `StepFailed`
 */
export async function runStep(name, [program = '', ...args], { cwd, env = process.env, shell = false, output = 'inherit', started }) {
  const quiet = output === 'on failure'
  const child = spawn(program, args, { cwd, env, shell, stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit' })
  started?.(child.pid)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      printed += text
    })
  }

  /** @type {NodeJS.Signals | undefined} */
  let interrupted
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    interrupted ??= signal
    child.kill(signal)
  }
  for (const signal of FORWARDED) process.on(signal, forward)
  try {
    const { code, signal } = await ended(child)
    const ending = interrupted ?? signal
    if (ending) throw new StepFailed(`${name} was ended by ${ending}`, 128 + constants.signals[ending])
    if (code !== 0) throw new StepFailed(`${name} failed${printed ? `:\n${printed.trimEnd()}` : ` with exit code ${code}`}`, code ?? 1)
  } catch (error) {
    if (error instanceof StepFailed) throw error
    throw new StepFailed(`${name} could not be started: ${/** @type {Error} */ (error).message}`, 127)
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward)
  }
}

/** @type {readonly NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>}
 */
function ended(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}
