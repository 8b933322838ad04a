// A host: boots a kernel with the provider and plays the scenario named by its first argument. Facts go to standard output as JSON lines.
import { spawn } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { boot, line, say, tail } from './boot.mjs'

const [scenario, ...parameters] = process.argv.slice(2)
const descriptors = () => readdirSync('/proc/self/fd').length

/** No stream of an earlier command is open any more, and no run of a program is under way. */
async function settled() {
  const isOpen = (descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes('.fifo')
    } catch {
      return false
    }
  }
  while (readdirSync('/proc/self/fd').some(isOpen) || process.getActiveResourcesInfo().includes('ProcessWrap')) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Trees that TERM does not end: in the group, out of it, stopped, left by a leader that is gone. */
async function stubborn({ sh }) {
  const trees = [
    sh('trap "" TERM HUP; echo $$; while :; do sleep 0.05; done'),
    sh('trap "" TERM HUP; setsid sh -c \'trap "" TERM HUP; echo $$; while :; do sleep 0.05; done\' & wait'),
    sh('echo $$; kill -STOP $$'),
    sh('sh -c \'trap "" TERM HUP; echo $$; exec sleep 600\' &'),
    sh('setsid sh -c \'trap "" TERM HUP; echo $$; exec sleep 600 >/dev/null 2>&1\' &'),
  ]
  return Promise.all(trees.map(line))
}

const scenarios = {
  async parent() {
    const { kernel, parent } = await boot()
    say({ parent })
    await kernel.close()
  },

  async exits([how]) {
    const host = await boot()
    say({ pids: await stubborn(host) })
    if (how === 'exit') process.exit(23)
    if (how === 'throw')
      setImmediate(() => {
        throw new Error('the diagnostic')
      })
    if (how === 'reject') void Promise.reject(new Error('the diagnostic'))
    if (how === 'wait') setInterval(() => undefined, 1_000)
  },

  /** The listener comes first, and goes with the close. */
  async listeners() {
    const order = []
    process.on('exit', () => order.push('earlier'))
    const before = process.listenerCount('exit')
    const counts = []
    for (let round = 0; round < 30; round++) {
      const { kernel, sh } = await boot()
      counts.push(process.listenerCount('exit') - before)
      if (round % 3 === 0) await sh('true').done
      if (round === 29) say({ first: process.listeners('exit')[0] !== process.listeners('exit').at(-1) })
      await kernel.close()
    }
    say({ counts, after: process.listenerCount('exit') - before })
  },

  /** How long the process lives after its last line. */
  async quick([form]) {
    const { kernel, sh } = await boot()
    const handle = sh('sleep 600 & echo done')
    await handle.done
    if (form === 'close') await kernel.close()
    say({ at: Date.now() })
  },

  /** Out of descriptors, and back. */
  async exhausted() {
    const { kernel, sh } = await boot()
    await sh('true').done
    // Loading the modules took more descriptors than are left to the commands.
    const ballast = []
    try {
      for (;;) ballast.push(openSync('/dev/null', 'r'))
    } catch (error) {
      if (error.code !== 'EMFILE') throw error
    }
    for (const descriptor of ballast.splice(-40)) closeSync(descriptor)
    const handles = Array.from({ length: 60 }, () => sh('read line; echo done', { stdin: 'pipe' }))
    await Promise.all(handles.map((handle) => handle.started))
    const started = handles.filter(({ pid }) => pid !== undefined)
    const failures = await Promise.all(
      handles.filter(({ pid }) => pid === undefined).map(({ done }) => done.catch((error) => [error.code, error.cause.code])),
    )
    for (const handle of started) handle.stdin.end('\n')
    const facts = await Promise.all(started.map(({ done }) => done))
    await Promise.all(started.map((handle) => handle.waitForExit()))
    const again = sh('echo again')
    await again.done
    say({
      started: started.length,
      failures,
      codes: [...new Set(facts.map(({ exitCode }) => exitCode))],
      again: again.output.stdout.readFrom(0).text,
    })
    await kernel.close()
  },

  /** One after the other, then at once, all on one signal. */
  async baseline([sequential, parallel]) {
    const { kernel, sh, spawn } = await boot()
    const warnings = []
    process.on('warning', (warning) => warnings.push(warning.message))
    await Promise.all(Array.from({ length: 4 }, () => sh('true').done))
    await settled()
    const before = descriptors()
    const { signal } = new AbortController()
    for (let done = 0; done < Number(sequential); done++) await spawn(['true'], { signal }).done
    await Promise.all(Array.from({ length: Number(parallel) }, () => spawn(['true'], { signal }).done))
    for (let turn = 0; turn < 400 && (descriptors() > before || getEventListeners(signal, 'abort').length > 0); turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    say({ before, after: descriptors(), listeners: getEventListeners(signal, 'abort').length, warnings })
    await kernel.close()
  },

  /** Many short commands, some with survivors: each stream has its own text. */
  async mixed([count]) {
    const { kernel, sh } = await boot()
    const wrong = []
    const left = []
    const one = async (index) => {
      const survivor = index % 7 === 0 ? 'sleep 600 & ' : index % 7 === 1 ? 'sh -c "exec sleep 600 < /dev/stdout" & ' : ''
      const form = index % 2 === 0 ? tail : { ...tail, spill: { maxBytes: 1_048_576 } }
      const handle = sh(`${survivor}echo out ${index}; echo err ${index} >&2`, { stdout: form, stderr: form })
      const facts = await handle.done
      const texts = [handle.output.stdout.readFrom(0).text, handle.output.stderr.readFrom(0).text]
      if (facts.exitCode !== 0 || texts[0] !== `out ${index}\n` || texts[1] !== `err ${index}\n`) wrong.push([index, facts, texts])
      if (survivor !== '') {
        left.push(handle)
        if (left.length > 20) {
          const oldest = left.shift()
          oldest.terminate()
          await oldest.waitForExit()
        }
      }
    }
    for (let index = 0; index < Number(count); index += 20) await Promise.all(Array.from({ length: 20 }, (_, offset) => one(index + offset)))
    say({ wrong })
    await kernel.close()
  },

  /** As pid 1 nobody reaps: what a leader leaves stays a zombie. */
  async zombies() {
    const warned = []
    const nothing = () => undefined
    const log = {
      trace: nothing,
      debug: nothing,
      info: nothing,
      warn: (...said) => warned.push(said.at(-1)),
      error: nothing,
      fatal: nothing,
      child: () => log,
    }
    const { kernel, sh } = await boot(undefined, log)
    const handle = sh('sleep 0.1 & sleep 0.2 & echo $!')
    await handle.done
    const gone = await handle.waitForExit(AbortSignal.timeout(10_000))
    say({ host: process.pid, gone, survivors: await handle.survivors(), warned })
    await kernel.close()
  },

  /** In a namespace of its own, as root: the number of a dead group goes to a stranger's group. */
  async recycled() {
    const { kernel, sh } = await boot()
    const handle = sh('sleep 0.2 & exit 0')
    await handle.done
    const isThere = () => {
      try {
        return process.kill(-handle.pid, 0)
      } catch {
        return false
      }
    }
    while (isThere()) await new Promise((resolve) => setTimeout(resolve, 5))
    let stranger
    for (let attempt = 0; attempt < 20 && stranger?.pid !== handle.pid; attempt++) {
      stranger?.kill('SIGKILL')
      writeFileSync('/proc/sys/kernel/ns_last_pid', String(handle.pid - 1))
      stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    }
    handle.terminate()
    const gone = await handle.waitForExit(AbortSignal.timeout(5_000))
    await kernel.close()
    say({ recycled: stranger.pid === handle.pid, gone, strangerLives: stranger.exitCode === null && stranger.signalCode === null })
    stranger.kill('SIGKILL')
  },

  /** What one turn of the loop costs this thread under floods; what others do on the machine does not count. */
  async floods([count, seconds]) {
    const { kernel, sh } = await boot()
    const handles = Array.from({ length: Number(count) }, () => sh('exec yes', { stdout: { maxBytes: 65_536, spill: { maxBytes: 50_000_000 } } }))
    const spent = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
    const turns = []
    const end = performance.now() + Number(seconds) * 1_000
    for (let last = spent(); performance.now() < end; ) {
      await new Promise((resolve) => setImmediate(resolve))
      const now = spent()
      turns.push(now - last)
      last = now
    }
    turns.sort((a, b) => a - b)
    say({ turns: turns.length, p99: turns[Math.floor(turns.length * 0.99)], bytes: handles.map((handle) => handle.output.stdout.size()) })
    await kernel.close()
  },

  async idle([count]) {
    const { kernel, spawn } = await boot()
    const handles = Array.from({ length: Number(count) }, () => spawn(['sleep', '600']))
    await Promise.all(handles.map((handle) => handle.started))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = process.cpuUsage()
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const { user, system } = process.cpuUsage(before)
    const started = performance.now()
    await kernel.close()
    say({
      timers,
      cpu: (user + system) / 2e6,
      closedMs: performance.now() - started,
      gone: (await Promise.all(handles.map((handle) => handle.waitForExit()))).every(Boolean),
    })
  },
}

await scenarios[scenario](parameters)
