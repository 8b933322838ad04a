// A host that was told nothing about temporary files: says where its names and its contents are, and waits to be ended.
import { readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { boot, line, say } from './boot.mjs'

const { kernel, parent, sh } = await boot()
const overflowing = sh('seq 1000', { stdout: { maxBytes: 100, spill: { maxBytes: 1_048_576 } } })
await overflowing.done
const running = sh('readlink /proc/self/fd/1; exec sleep 600')
const fifo = await line(running)
process.once('SIGTERM', () => void kernel.close())
say({ parent, fifos: dirname(fifo), launcher: readlinkSync(`/proc/${parent}/cwd`), contents: dirname(overflowing.output.stdout.spillPath) })
setInterval(() => undefined, 1_000).unref()
