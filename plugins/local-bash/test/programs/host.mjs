// A host: boots a kernel with the process provider and bash, and plays the scenario named by its first argument. Facts go to standard output as one JSON line.
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kernel } from '@tenon/kernel'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { renderResult, Shell } from '@tenon/shell'

const [scenario, ...parameters] = process.argv.slice(2)

async function boot(settings, processes) {
  const kernel = new Kernel()
  await kernel.load(localSubprocess, processes).ready()
  await kernel.load(localBash, settings).ready()
  const shell = kernel.get(Shell)
  const start = (command, request = {}) => shell.execute(shell.resolve({ command, workdir: '/', ...request }))
  return { kernel, start, run: async (command, request) => (await start(command, request)).result() }
}

/** Until the launcher is there the host itself starts commands. */
async function bootLaunched() {
  const launcher = process.env.TENON_TEST_LAUNCHER ?? 'process'
  const host = await boot(undefined, { launcher })
  const isLaunched = async () => (await host.run('echo $PPID')).stdout.text !== `${process.pid}\n`
  while (launcher === 'process' && !(await isLaunched())) await new Promise((resolve) => setTimeout(resolve, 5))
  return host
}

const long = (command) => `${command} #${'x'.repeat(100_000)}`

/** Root is kept from nothing by a mode. */
function becomeNobody() {
  if (process.getuid() !== 0) return
  process.setgid(65_534)
  process.setuid(65_534)
}

const scenarios = {
  /** With temporary files in a place that is named from where the host is, before it goes elsewhere. */
  async relative() {
    const { kernel, run } = await bootLaunched()
    const text = async (command) => run(command).then((result) => result.stdout.text, String)
    const there = [await text('echo short'), await text(long('echo long'))]
    process.chdir('/')
    const elsewhere = [await text('echo short'), await text(long('echo long'))]
    await kernel.close()
    return { there, elsewhere }
  },

  /** Ends in the middle of a long command, after another. */
  async ends([how]) {
    const { start, run } = await bootLaunched()
    await run(long('true'))
    await start(long('sleep 60'))
    setImmediate(() => {
      if (how === 'exit') process.exit(3)
      throw new Error('the diagnostic')
    })
    return { scripts: readdirSync(tmpdir(), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sh')).length }
  },

  /** How much more memory the host takes, at most, while a command writes. */
  async flood([command]) {
    const { kernel, start, run } = await boot()
    await run('seq 1 1000000')
    const before = process.memoryUsage().rss
    let most = before
    const execution = await start(command, { timeoutMs: 120_000 })
    while (execution.status === 'running') {
      await Promise.race([execution.done, new Promise((resolve) => setTimeout(resolve, 20))])
      most = Math.max(most, process.memoryUsage().rss)
    }
    const { exitCode, timedOut, stdout } = await execution.result()
    const { text, ...facts } = stdout
    await kernel.close()
    return { exitCode, timedOut, stdout: facts, tail: text.slice(-20), length: text.length, grown: most - before }
  },

  /** As somebody whom the umask keeps from what is made without a mode of its own. */
  async masked([mask]) {
    chmodSync(tmpdir(), 0o777)
    becomeNobody()
    process.umask(mask)
    // This user may not be able to read the place where the launcher lies.
    const { kernel, run } = await boot({ maxOutputBytes: 1_000 }, { launcher: 'host' })
    const text = async (command, request) => run(command, request).then((result) => result.stdout.text, String)
    const texts = [await text('echo short'), await text(long('echo long')), await text('cat', { stdin: 'data' })]
    const { stdout } = await run('seq 1 1000')
    const modes = readdirSync(tmpdir(), { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('.fifo'))
      .map((name) => statSync(join(tmpdir(), name)).mode & 0o777)
    const facts = { texts, spilled: readFileSync(stdout.spillPath, 'utf8').length, modes: [...new Set(modes)].sort() }
    await kernel.close()
    return facts
  },

  /** As somebody who may not write there, after the first command could. */
  async unwritable() {
    chmodSync(tmpdir(), 0o777)
    becomeNobody()
    // This user may not be able to read the place where the launcher lies.
    const { kernel, start, run } = await boot({ maxOutputBytes: 1_000 }, { launcher: 'host' })
    const first = await run('seq 1 1000')
    const [directory] = readdirSync(tmpdir())
    chmodSync(join(tmpdir(), directory), 0o500)
    const second = await run('seq 1 1000; exit 3')
    const long = await start(`echo ran #${'x'.repeat(100_000)}`)
    const rendered = renderResult(second)
    chmodSync(join(tmpdir(), directory), 0o700)
    const third = await run('echo third')
    const facts = {
      first: first.stdout.spillPath !== undefined,
      second: { exitCode: second.exitCode, bytes: second.stdout.bytes, path: second.stdout.spillPath ?? null },
      rendered: rendered.slice(-80),
      long: await long.result().then((result) => result.stdout.text, String),
      third: third.stdout.text,
    }
    await kernel.close()
    return facts
  },

  /** Where no file may be larger than the limit the host was started with. */
  async limited() {
    const { kernel, start, run } = await boot({ maxOutputBytes: 1_000 })
    const execution = await start(`echo ran #${'x'.repeat(200_000)}`)
    const code = await execution.result().then(
      () => 'ran',
      (error) => [error.code, error.cause.code],
    )
    const left = readdirSync(tmpdir(), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sh'))
    const { stdout, exitCode } = await run('ulimit -f unlimited 2>/dev/null; seq 1 100000; exit 3')
    const facts = { status: execution.status, code, left, exitCode, bytes: stdout.bytes, tail: stdout.text.slice(-7), path: stdout.spillPath ?? null }
    await kernel.close()
    return facts
  },
}

process.stdout.write(`${JSON.stringify(await scenarios[scenario](parameters))}\n`)
