#!/usr/bin/env node
import process from 'node:process'
import { Writable } from 'node:stream'
import { placeIn } from '../dist/fault-origin.js'
import { main } from '../dist/index.js'

const INTERNAL_FAULT = 70
/** Of Node: a top-level `await` that can never end. */
const UNSETTLED_AWAIT = 13
const { stdin, stdout, stderr, env, pid } = process

let finished = false
const exit = (code) => {
  finished = true
  process.exit(code)
}

// A plugin that ends the process would pass for a success, for a signal's work, or leave work of others undone.
process.on('exit', (code) => {
  if (finished) return
  const [, caller] = /process\.exit \(.*\n(\s*at .*)/.exec(new Error().stack ?? '') ?? []
  const why = caller === undefined ? 'nothing is left that it could wait for' : `process.exit(${code}) was called, ${placeIn(caller)}`
  // An exception that nobody caught has been printed.
  if (caller !== undefined || code === 0 || code === UNSETTLED_AWAIT)
    stderr.write(`error: the program ended before the command had finished: ${why}\n`)
  process.exitCode = INTERNAL_FAULT
})

// A composition that is open answers for its own; elsewhere only code of plugins that was imported can have thrown.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') > 1) return
  const text = error instanceof Error && process.argv.includes('--debug') ? error.stack : String(error?.message ?? error)
  stderr.write(`error: ${text} (nobody caught it)\n`)
  exit(INTERNAL_FAULT)
})

// A reader that left, such as `head`, is no fault; a full disk is told, and nothing more can be printed. An open composition sees to its own end.
stdout.on('error', (error) => {
  if (stdout.listenerCount('error') > 1) return
  if (error.code !== 'EPIPE') stderr.write(`error: standard output cannot be written: ${error.message}\n`)
  exit(error.code === 'EPIPE' ? 0 : 1)
})

// Nobody reads what goes wrong: what was asked for is done all the same.
stderr.on('error', () => undefined)

const status = await main(process.argv.slice(2), { stdin, stdout, stderr, env, pid, exit, cwd: workingDirectory() })
finished = true
// Ends even where a plugin left something behind, but not before what was printed has been passed on, or its failure been told. A command may
// have put a `write` over that of standard output, which says nothing of the stream itself.
const flush = (stream, done) => Writable.prototype.write.call(stream, '', 'utf8', done)
flush(stdout, () => flush(stderr, () => setImmediate(() => process.exit(status))))

/** Somebody may have removed it; what needs it says so when it does. */
function workingDirectory() {
  try {
    return process.cwd()
  } catch {
    return process.env.PWD ?? '/'
  }
}
