import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { OutputReader } from '@tenon/subprocess'
import { $ as zx } from 'zx'
import { collectGarbage } from '../measuring/child.ts'
import { summarize } from '../measuring/statistics.ts'
import { collecting, openTenon } from './systems.ts'

export type Idle = { readonly cpu: number; readonly heap: number }

/** Many children that do nothing: per cent of one processor, and KiB of heap each. */
export async function idle(layer: 'subprocess' | 'shell', count: number, ms: number): Promise<Idle> {
  await using tenon = await openTenon()
  const { subprocess, shell } = tenon
  const spawned = async (seconds: number) => {
    const handle = subprocess.spawn(collecting(['sleep', String(seconds)], 64 * 1024 ** 2))
    await handle.started
    return handle
  }
  const executed = (seconds: number) => shell.execute(shell.resolve({ command: `exec sleep ${seconds}`, onExpiry: 'none' }))
  const start = layer === 'subprocess' ? spawned : executed
  for (let call = 0; call < 20; call++) await (await start(0)).done
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const running = []
  for (let index = 0; index < count; index++) running.push(await start(600))
  await pause(500)
  collectGarbage()
  const heap = (process.memoryUsage().heapUsed - before) / 1024 / running.length
  const used = process.cpuUsage()
  await pause(ms)
  const { user, system } = process.cpuUsage(used)
  return { cpu: (user + system) / 10 / ms, heap }
}

const TREE = 'for i in $(seq 49); do sleep 600 & done; echo up; wait'

/** Milliseconds from the order to end a tree of 50 until the whole of it is gone; one value a round. */
export async function treeKills(rounds: number): Promise<Readonly<Record<string, number[]>>> {
  await using tenon = await openTenon()
  const series = { tenon: [] as number[], bare: [] as number[], zx: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const handle = tenon.subprocess.spawn(collecting(['bash', '--norc', '-c', TREE]))
    await reaches(handle.output.stdout, 3)
    let began = performance.now()
    handle.terminate()
    await handle.waitForExit()
    series.tenon.push(performance.now() - began)

    const child = spawn('bash', ['--norc', '-c', TREE], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    began = performance.now()
    const closed = new Promise((resolve) => child.once('close', resolve))
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await closed
    series.bare.push(performance.now() - began)

    const command = zx({ quiet: true, nothrow: true })`${['bash', '--norc', '-c', TREE]}`
    await new Promise((resolve) => command.stdout.once('data', resolve))
    began = performance.now()
    await command.kill('SIGTERM')
    await command
    series.zx.push(performance.now() - began)
  }
  return series
}

/** Microseconds of one `readOutput` of 4 KiB, on a stream that is short and on one that is long. */
export async function reads(longBytes: number, rounds: number): Promise<{ readonly short: number[]; readonly long: number[] }> {
  await using tenon = await openTenon(1024 ** 3)
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'))
  const orders = join(folder, 'orders')
  execFileSync('mkfifo', [orders])
  const descriptor = openSync(orders, 'r+')
  try {
    const command = `while read -r bytes; do head -c "$bytes" /dev/zero; done < ${orders}`
    const execution = await tenon.shell.execute(tenon.shell.resolve({ command, onExpiry: 'none' }))
    const { stdout } = execution.observed
    const grow = async (bytes: number): Promise<void> => {
      const size = stdout.size() + bytes
      writeSync(descriptor, `${bytes}\n`)
      await reaches(stdout, size)
    }
    const deltas = async (): Promise<number[]> => {
      execution.readOutput()
      const values: number[] = []
      for (let round = 0; round < rounds; round++) {
        const times: number[] = []
        for (let call = 0; call < 10; call++) {
          await grow(4_096)
          const began = performance.now()
          const { delta, lossy } = execution.readOutput()
          times.push((performance.now() - began) * 1_000)
          if (delta.length !== 4_096 || lossy) throw new Error(`${delta.length} characters came, lossy: ${lossy}`)
        }
        values.push(summarize(times).median)
      }
      return values
    }
    await grow(128 * 1024)
    await deltas()
    const short = await deltas()
    await grow(longBytes)
    const long = await deltas()
    execution.kill()
    await execution.done
    return { short, long }
  } finally {
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  }
}

async function reaches(reader: OutputReader | undefined, size: number): Promise<void> {
  const never = new AbortController().signal
  for (let now = reader?.size() ?? size; now < size; now = reader?.size() ?? size) {
    if (!(await reader?.changed(now, never))) throw new Error(`the stream ended at ${now} of ${size} bytes`)
  }
}
