import { spawnSync } from 'node:child_process'
import { readFileSync, unlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** More would not all be in the value of a call. */
const MOST_LINES = 5_000

/** Where a command's output stands against what it was fed: `whole`, `beginning`, or the text itself. */
export function verdict(text, pid, count) {
  const lines = Array.from({ length: count }, (_, n) => `${n + 1}\n`).join('')
  const begun = `pid ${pid}\n${lines}`
  if (text === `${begun}pid ${pid}\n`) return 'whole'
  return text.startsWith(`pid ${pid}\n`) && begun.startsWith(text) ? 'beginning' : text
}

/** A command that gives back each line it is fed, and what it was fed: it writes exactly as long as a test wants. */
export class Feed {
  #file
  #handle
  #lines = 0

  constructor(file) {
    this.#file = file
    spawnSync('mkfifo', [file])
  }

  /** Its pid first and last shows that it is one process; the file beside the pipe has it too. */
  command(exitCode) {
    const read = 'while read -r line; do echo "$line"; done'
    return `echo $$ > ${this.#file}.pid; echo "pid $$"; ${read} < ${this.#file}; echo "pid $$"; exit ${exitCode}`
  }

  /** Resolves once the command reads. */
  async begin() {
    this.#handle = await open(this.#file, 'w')
    await this.count()
  }

  /** One line more, which is a number. */
  async count() {
    if (this.#lines >= MOST_LINES) return new Promise((resolve) => setImmediate(resolve))
    this.#lines++
    await this.#handle.write(`${this.#lines}\n`).catch(onlyGone)
  }

  /** The command comes to its end. */
  async end() {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }

  /**
   * Removes the pipe by name, without a look at it: while the last `stat` of a process was one of a pipe, Node 20 and its like resolve no
   * symbolic links when they import, and a package that is linked does not find its own dependencies.
   */
  remove() {
    unlinkSync(this.#file)
  }

  isAlive() {
    try {
      return process.kill(this.#pid(), 0)
    } catch {
      return false
    }
  }

  judge(text) {
    return verdict(text, this.#pid(), this.#lines)
  }

  #pid() {
    return Number(readFileSync(`${this.#file}.pid`, 'utf8'))
  }
}

/** Who was killed reads no more. */
function onlyGone(error) {
  if (error.code !== 'EPIPE') throw error
}
