// What hosts have in common: a kernel with the provider, started the way the run is about.
import { readdirSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { Kernel } from '@tenon/kernel'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { Subprocess } from '@tenon/subprocess'

export const tail = { maxBytes: 65_536 }
export const say = (facts) => process.stdout.write(`${JSON.stringify(facts)}\n`)

const launcher = process.env.TENON_TEST_LAUNCHER ?? 'process'

export async function boot(config, logger) {
  const kernel = new Kernel({ logger })
  const row = kernel.load(localSubprocess, { launcher, ...config })
  await row.ready()
  const subprocess = kernel.get(Subprocess)
  const spec = (argv, change = {}) => ({ argv, cwd: '/', stdin: 'ignore', stdout: tail, stderr: tail, graceMs: 1_000, ...change })
  const parent = async () => {
    const handle = subprocess.spawn(spec(['sh', '-c', 'echo $PPID']))
    await handle.done
    return Number(handle.output.stdout.readFrom(0).text)
  }
  // Until the launcher is there the host itself starts commands; in a worker thread always, and the launcher is there for its end.
  if (launcher === 'process' && !isMainThread) await greeted()
  let parentPid = await parent()
  while (launcher === 'process' && isMainThread && parentPid === process.pid) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    parentPid = await parent()
  }
  return {
    kernel,
    row,
    /** Who starts the commands. */
    parent: parentPid,
    spawn: (argv, change) => subprocess.spawn(spec(argv, change)),
    sh: (script, change) => subprocess.spawn(spec(['sh', '-c', script], change)),
  }
}

/** Resolves with the pid of the process's launcher once it has greeted. */
export async function greeted() {
  for (;;) {
    const tasks = readdirSync('/proc/self/task')
    const children = tasks.flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'latin1').trim().split(' '))
    const pid = children.find(hasGreeted)
    if (pid !== undefined) return Number(pid)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Its socket goes with the greeting. */
function hasGreeted(pid) {
  try {
    const isLauncher = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('/launcher/main.js')
    return isLauncher && !readdirSync(`/proc/${pid}/cwd`).some((name) => name.endsWith('.sock'))
  } catch {
    return false
  }
}

/** Resolves with the first line of the output. */
export async function line(handle) {
  const { stdout } = handle.output
  while (!stdout.readFrom(0).text.includes('\n')) await stdout.changed(stdout.size(), AbortSignal.timeout(10_000))
  return stdout.readFrom(0).text.split('\n')[0]
}
