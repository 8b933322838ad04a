import { endWithParent } from './parent-watch.mjs'
import { setUp } from './set-up.mjs'
import { StepFailed } from './step.mjs'
import { tasks } from './tasks.mjs'

/**
 * Sets up the checkout and runs one task in it. Failures are told on stderr and in `process.exitCode`.
 *
 * @param {string} root the checkout
 * @param {string[]} argv the task and its arguments
 */
export async function runTask(root, [name = '', ...args]) {
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined
  if (!task) {
    say(`${name ? `no task "${name}".` : 'which task?'} There are: ${Object.keys(tasks).join(', ')}`)
    process.exitCode = 2
    return
  }
  endWithParent()
  try {
    await setUp(root, say)
    await task(root, args)
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    say(error.message)
    process.exitCode = error.exitCode
  }
}

/** @param {string} text one line for the person who waits */
function say(text) {
  process.stderr.write(`tenon: ${text}\n`)
}
