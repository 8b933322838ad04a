import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

function program(name: string): string {
  return fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url))
}

export interface HostRun {
  /** What the host said, one object a line. */
  readonly facts: Record<string, unknown>[]
  readonly stderr: string
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly endedAt: number
}

export interface Host {
  readonly child: ChildProcess
  /** Resolves with the next thing the host says. */
  next(): Promise<Record<string, unknown>>
  readonly ended: Promise<HostRun>
}

/** Plays a scenario of `programs/host.mjs` in a process of its own. `wrapper` is put in front of `node`. */
export function startHost(scenario: readonly string[], wrapper: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Host {
  return startProgram('host', scenario, wrapper, env)
}

/** The same with another program. */
export function startProgram(name: string, parameters: readonly string[], wrapper: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Host {
  const [file = '', ...args] = [...wrapper, process.execPath, program(name), ...parameters]
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const facts: Record<string, unknown>[] = []
  const waiting: ((each: Record<string, unknown>) => void)[] = []
  let taken = 0
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (stdout + chunk).split('\n')
    stdout = lines.pop() ?? ''
    for (const line of lines) {
      const said = JSON.parse(line) as Record<string, unknown>
      facts.push(said)
      waiting.shift()?.(said)
    }
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  const ended = Promise.all([once(child, 'exit').then((exit) => ({ exit, endedAt: Date.now() })), once(child, 'close')]).then(
    ([{ exit, endedAt }]) => {
      const [exitCode, signal] = exit as [number | null, NodeJS.Signals | null]
      return { facts, stderr, exitCode, signal, endedAt }
    },
  )
  const next = (): Promise<Record<string, unknown>> => {
    const said = facts[taken++]
    return said === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(said)
  }
  return { child, next, ended }
}
