import { spawn } from 'node:child_process'
import type { ShardResult } from './run-shards.ts'

/** Runs one spec file in a vitest of its own: memory and compiled code of one shard are no matter of the next. */
export function vitestShard(spec: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ShardResult> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', spec]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    // With its workers: one that is in the middle of a long test does not look up when its parent goes.
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }
    signal.addEventListener('abort', end, { once: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', reject)
    child.once('close', (code) => {
      signal.removeEventListener('abort', end)
      resolve(code === 0 ? { passed: true } : { passed: false, output })
    })
  })
}
