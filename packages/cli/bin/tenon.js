#!/usr/bin/env node
import process from 'node:process'
import { main } from '../dist/index.js'

// A reader that left, such as `head`, is no fault.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const { stdin, stdout, stderr, env, pid } = process
const status = await main(process.argv.slice(2), { stdin, stdout, stderr, env, pid, cwd: workingDirectory() })
// Ends even where a plugin left something behind, but not before what was printed has been passed on.
stdout.write('', () => stderr.write('', () => process.exit(status)))

/** Somebody may have removed it; what needs it says so when it does. */
function workingDirectory() {
  try {
    return process.cwd()
  } catch {
    return process.env.PWD ?? '/'
  }
}
