import { spawn } from 'node:child_process'
import { setTimeout as later } from 'node:timers/promises'
import { Shell } from '@tenon/shell'
import { wallClock } from '../measuring/clock.ts'
import { type Composition, withBash } from './compositions.ts'
import { leftByCalls, perCall } from './rounds.ts'

/** Microseconds of `true`: by the bash tool with jobs, by the executor alone, and as a bare spawn whose output is collected. */
export async function bash(rounds: number, calls: number): Promise<Record<string, number[]>> {
  const composition = await withBash()
  const shell = composition.get(Shell)
  const variants = {
    async tool(count: number) {
      for (let call = 0; call < count; call++) await runTrue(composition)
    },
    async executor(count: number) {
      for (let call = 0; call < count; call++) await (await shell.execute(shell.resolve({ command: 'true', workdir: '/' }))).result()
    },
    async bare(count: number) {
      for (let call = 0; call < count; call++) await bareSpawn()
    },
  }
  // What a command takes is mostly waiting for it.
  const measured = await perCall(rounds, calls, variants, wallClock)
  await composition.close()
  return measured
}

/** Kibibytes of heap that calls of `true` leave. */
export async function realCommandHeap(count: number): Promise<Record<string, number[]>> {
  const composition = await withBash()
  const kibibytes = await leftByCalls(count >> 3, count, () => runTrue(composition))
  await composition.close()
  return { kibibytes: [kibibytes] }
}

/** Percent of a core that running commands nobody asks about take, with as many jobs; beyond what the process takes without them. */
export async function idleCommands(jobs: number, ms: number): Promise<Record<string, number[]>> {
  const composition = await withBash()
  await later(ms / 10)
  const without = await percentOf(ms)
  for (let job = 0; job < jobs; job++) {
    await composition.call('bash', { command: 'sleep 3600', description: 'be there', run_in_background: true })
  }
  // What starting them has left to do.
  await later(ms / 10)
  const percent = Math.max(0, (await percentOf(ms)) - without)
  await composition.close()
  return { percent: [percent] }
}

/** Of a core, that this process takes while it has nothing to do: a virtual machine's own housekeeping counts as much as two thousandths. */
async function percentOf(ms: number): Promise<number> {
  const [before, since] = [process.cpuUsage(), performance.now()]
  await later(ms)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 10 / (performance.now() - since)
}

async function runTrue(composition: Composition): Promise<void> {
  await composition.call('bash', { command: 'true', description: 'do nothing' })
}

/** Of the same program with the same arguments. */
function bareSpawn(): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--norc', '-c', 'true'], { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}
