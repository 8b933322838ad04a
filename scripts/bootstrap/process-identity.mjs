import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * A process that cannot be confused with a later one of the same number.
 *
 * @typedef {{ pid: number, startedAt: string | null }} ProcessIdentity `startedAt` is in the platform's own notation, null where it tells none
 */

/**
 * @param {number} pid
 * @returns {ProcessIdentity}
 */
export function identify(pid) {
  return { pid, startedAt: startTime(pid) }
}

/**
 * @param {ProcessIdentity} identity
 * @returns {boolean}
 */
export function isAlive({ pid, startedAt }) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') return false
  }
  return startedAt === null || startTime(pid) === startedAt
}

/** @param {number} pid */
function startTime(pid) {
  if (process.platform === 'linux') return linuxStartTime(pid)
  if (process.platform === 'win32') return null
  const told = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
  return told.stdout?.trim() || null
}

/**
 * Clock ticks since boot, from `/proc/PID/stat` (proc(5), field 22). The second field, the program's name in parentheses, may hold
 * spaces and parentheses itself, so counting starts behind the last one. A zombie has ended, though it can still be signalled.
 *
 * @param {number} pid
 */
function linuxStartTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}
