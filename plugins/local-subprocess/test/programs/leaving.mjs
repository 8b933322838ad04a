// Hosts that leave: orderly, by having nothing to do any more, or in the middle of something. Facts go to standard output as JSON lines.
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'
import { Kernel } from '@tenon/kernel'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { Subprocess } from '@tenon/subprocess'
import { boot, greeted, line, say, tail } from './boot.mjs'

const spec = (script, change = {}) => ({
  argv: ['sh', '-c', script],
  cwd: '/',
  stdin: 'ignore',
  stdout: tail,
  stderr: tail,
  graceMs: 1_000,
  ...change,
})

const scenarios = {
  /** Closes with a tree that is there, then has nothing to do. */
  async close() {
    const { kernel, sh, parent } = await boot()
    await sh('sleep 600 & echo done').done
    await kernel.close()
    say({ parent, at: Date.now() })
  },

  /** Has nothing to do any more, and does not close. A command that is done, and a launcher that waits, are no reason to stay. */
  async idle() {
    const { sh, parent } = await boot()
    await sh('sleep 600 & echo done').done
    say({ parent, at: Date.now() })
  },

  /** Has nothing to do before the launcher has greeted. */
  async early() {
    await new Kernel().load(localSubprocess, { launcher: 'process' }).ready()
    say({ at: Date.now() })
  },

  /** Stays for a command, and for nothing else. */
  async waiting() {
    const { sh, parent } = await boot()
    void sh('sleep 0.5; exit 6').done.then((facts) => say({ parent, facts, at: Date.now() }))
  },

  /** Exits in the middle of a hundred starts. */
  async midst() {
    const { sh, parent } = await boot()
    const cookie = await line(sh('echo $TENON_PROCESS'))
    for (let index = 0; index < 100; index++) sh('trap "" TERM; while :; do sleep 0.05; done')
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    process.stdout.write(`${JSON.stringify({ parent, nonce: cookie.split('.')[0] })}\n`, () => process.exit(3))
  },

  /** Open, a command, close, fifty times over; and the row out of a kernel that stays. */
  async rounds() {
    const parents = []
    const before = process.listenerCount('exit')
    for (let round = 0; round < 25; round++) {
      const { kernel, parent } = await boot()
      parents.push(parent)
      await kernel.close()
    }
    const kernel = new Kernel()
    for (let round = 0; round < 25; round++) {
      const row = kernel.load(localSubprocess, { launcher: 'process' })
      await row.ready()
      const subprocess = kernel.get(Subprocess)
      // Some go before the launcher is there, some after.
      if (round % 5 > 0) for (let turn = 0; turn < round * 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (round % 2 === 0) await subprocess.spawn(spec('true')).done
      await row.unload()
    }
    await kernel.close()
    say({ parents, descriptors: readdirSync('/proc/self/fd').length, listeners: process.listenerCount('exit') - before })
  },

  /** Eight runtimes at once, each with a launcher of its own: an exit listener each, and Node warns of the eleventh. */
  async many() {
    const hosts = await Promise.all(Array.from({ length: 8 }, () => boot()))
    const texts = await Promise.all(
      hosts.map(async ({ sh }, index) => {
        const handle = sh(`echo ${index}`)
        await handle.done
        return handle.output.stdout.readFrom(0).text
      }),
    )
    await Promise.all(hosts.map(({ kernel }) => kernel.close()))
    say({ parents: hosts.map(({ parent }) => parent), texts })
  },

  /** Has no descriptor left when the launcher comes. */
  async crowded() {
    const kernel = new Kernel()
    await kernel.load(localSubprocess, { launcher: 'process' }).ready()
    const subprocess = kernel.get(Subprocess)
    const running = subprocess.spawn(spec('echo up; read line; echo "after $line"', { stdin: 'pipe', stdout: tail }))
    await line(running)
    const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim().split(' ').length
    while (children() < 2) await new Promise((resolve) => setImmediate(resolve))
    const ballast = []
    // One is free again when the launcher has been told what it needs.
    for (const end = performance.now() + 2_000; performance.now() < end; await new Promise((resolve) => setImmediate(resolve))) {
      try {
        for (;;) ballast.push(openSync('/dev/null', 'r'))
      } catch (error) {
        if (error.code !== 'EMFILE') throw error
      }
    }
    for (const descriptor of ballast) closeSync(descriptor)
    running.stdin.end('all\n')
    const facts = await running.done
    const later = subprocess.spawn(spec('echo works'))
    await later.done
    say({ facts, texts: [running, later].map((handle) => handle.output.stdout.readFrom(0).text) })
    await kernel.close()
  },

  /** Gives up its privileges when the launcher is there already. */
  async dropped() {
    const { sh } = await boot()
    process.setgroups([])
    process.setgid(65_534)
    process.setuid(65_534)
    const handle = sh('id -u; id -g')
    await handle.done
    say({ ids: handle.output.stdout.readFrom(0).text })
    process.exit(0)
  },

  /** Is killed while its launcher is still on its way, with trees that it has started itself. */
  async infancy() {
    const kernel = new Kernel()
    await kernel.load(localSubprocess, { launcher: 'process' }).ready()
    const subprocess = kernel.get(Subprocess)
    const cookie = subprocess.spawn(spec('echo $TENON_PROCESS; trap "" TERM; while :; do sleep 0.05; done'))
    subprocess.spawn(spec('setsid sh -c \'trap "" TERM; exec sleep 600\' & wait'))
    const [nonce] = (await line(cookie)).split('.')
    const launcher = () => readdirSync(tmpdir(), { recursive: true }).some((name) => name.endsWith('.sock'))
    while (!launcher()) await new Promise((resolve) => setImmediate(resolve))
    const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim().split(' ').length
    while (children() < 3) await new Promise((resolve) => setImmediate(resolve))
    process.stdout.write(`${JSON.stringify({ nonce })}\n`, () => process.kill(process.pid, 'SIGKILL'))
  },

  /** In a thread, which is ended from outside. */
  async thread() {
    const worker = new Worker(new URL(import.meta.url), { argv: ['thread-itself'] })
    const said = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await worker.terminate()
    say(said)
  },

  async 'thread-itself'() {
    const { sh } = await boot()
    const parent = await greeted()
    const cookie = sh('echo $TENON_PROCESS; trap "" TERM; while :; do sleep 0.05; done')
    sh('setsid sh -c \'trap "" TERM; exec sleep 600\' & wait')
    const [nonce] = (await line(cookie)).split('.')
    parentPort.postMessage({ parent, nonce })
  },

  /** What it has inherited, and what a command has. */
  async descriptors() {
    const { kernel, sh } = await boot()
    const handle = sh('exec ls /proc/self/fd')
    await handle.done
    await kernel.close()
    say({ host: [8, 9].map((descriptor) => readlinkSync(`/proc/self/fd/${descriptor}`)), command: handle.output.stdout.readFrom(0).text })
  },

  /** The limits of descriptors that a command has. */
  async limit() {
    const { kernel, sh } = await boot()
    say({ command: await line(sh('echo $(ulimit -Sn) $(ulimit -Hn)')) })
    await kernel.close()
  },
}

await scenarios[process.argv[2]]()
