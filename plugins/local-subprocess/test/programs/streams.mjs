// A host whose own streams matter: boots a kernel with the provider, plays the scenario named by its argument, and tells facts as JSON on descriptor 3.
import { writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Kernel } from '@tenon/kernel'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { Subprocess } from '@tenon/subprocess'

const kernel = new Kernel()
await kernel.load(localSubprocess).ready()
const subprocess = kernel.get(Subprocess)
const tail = { maxBytes: 65_536 }
const sh = (script, change = {}) =>
  subprocess.spawn({ argv: ['sh', '-c', script], cwd: '/', stdin: 'ignore', stdout: tail, stderr: tail, graceMs: 1_000, ...change })
const textOf = (handle, stream = 'stdout') => handle.output[stream].readFrom(0).text

const scenarios = {
  /** What a command gets through an inherited stream, and what beside it is kept. */
  async inherit() {
    const one = sh('echo out; echo err >&2', { stdout: 'inherit' })
    await one.done
    const other = sh('echo out; echo err >&2', { stderr: 'inherit' })
    await other.done
    const both = sh('echo both out; echo both err >&2', { stdout: 'inherit', stderr: 'inherit' })
    await both.done
    const piped = sh('echo piped; echo beside >&2', { stdout: 'pipe', stderr: 'inherit' })
    const read = await text(piped.stdout)
    await piped.done
    return { kept: [textOf(one, 'stderr'), textOf(other)], readers: [one, other, both, piped].map(({ output }) => Object.keys(output)), read }
  },

  /** Who reads the standard input of the host. */
  async stdin() {
    const handles = [sh('cat'), sh('read -r line; echo "[$line] $?"'), sh('cat', { stdin: { data: 'data' } })]
    await Promise.all(handles.map(({ done }) => done))
    return { commands: handles.map((handle) => textOf(handle)), host: await text(process.stdin) }
  },

  /** What a command finds where the host has a terminal. */
  async terminal() {
    const started = performance.now()
    const asking = [
      sh('printf "password: " > /dev/tty'),
      sh('read -r answer < /dev/tty'),
      sh('exec 3<>/dev/tty'),
      sh('stty -F /dev/tty'),
      sh('exec setsid -c true < /dev/tty'),
    ]
    const codes = (await Promise.all(asking.map(({ done }) => done))).map(({ exitCode }) => exitCode !== 0)
    const interactive = sh('bash -ic "echo interactive"; test -t 0 || test -t 1 || test -t 2 || echo none')
    await interactive.done
    return {
      hostHasTerminal: process.stdout.isTTY === true && process.stdin.isTTY === true,
      refused: codes,
      elapsedMs: performance.now() - started,
      interactive: textOf(interactive),
    }
  },
}

const facts = await scenarios[process.argv[2]]()
await kernel.close()
writeSync(3, JSON.stringify(facts))
