// A host with ten hostile trees, and two that it has started itself, which is then killed, or ends by itself in the given way.
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { boot, line, say } from './boot.mjs'
import { hostile } from './hostile.mjs'

const [how, graceMs] = process.argv.slice(2)
const { sh, row, parent } = await boot()
const change = { graceMs: Number(graceMs), stderr: { maxBytes: 4_096, spill: { maxBytes: 50_000_000 } } }
const trees = hostile.map((script) => sh(script, change))
// A descriptor of the host cannot be handed over by way of the launcher.
trees.push(sh('trap "" TERM; echo ready; while :; do sleep 0.05; done', { ...change, stderr: 'inherit' }))
trees.push(sh('setsid sh -c \'trap "" TERM; echo ready; exec sleep 600\' & wait', { ...change, stderr: 'inherit' }))
await Promise.all(trees.map(line))
// From here on there are two private directories.
const second = join(tmpdir(), 'second')
mkdirSync(second)
await row.reconfigure({ spillDirectory: second })
const cookie = sh('echo $TENON_PROCESS')
await cookie.done
say({ parent, nonce: cookie.output.stdout.readFrom(0).text.split('.')[0] })

if (how === 'memory') {
  const held = []
  setInterval(() => {
    for (let n = 0; n < 50; n++) held.push(Array.from({ length: 10_000 }, (_, index) => `${held.length} ${index}`))
  })
} else if (how === 'segfault') process.kill(process.pid, 'SIGSEGV')
else setInterval(() => undefined, 1_000)
