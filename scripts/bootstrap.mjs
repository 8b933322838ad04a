// The way into a checkout: `node scripts/bootstrap.mjs TASK [arguments]`.
//
// Sets up what the task needs, then runs it. Made of Node built-ins only, since it runs before anything is installed.
// What it prints itself goes to stderr: stdout is the task's.

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`tenon: needs Node 20.19 or newer, this is ${process.versions.node}\n`)
  process.exitCode = 1
} else {
  const { runTask } = await import('./bootstrap/run-task.mjs')
  await runTask(root, process.argv.slice(2))
}
