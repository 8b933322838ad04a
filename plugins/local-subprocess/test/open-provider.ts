import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Collect, DEFAULT_DENIED_NAMES, type ScrubRules, type SpawnSpec } from '@tenon/subprocess'
import { onTestFinished } from 'vitest'
import { LocalSubprocess } from '../src/local-subprocess.ts'
import { Runtime } from '../src/runtime.ts'
import type { Settings } from '../src/settings.ts'
import { systemWorld } from '../src/system-world.ts'
import type { Log } from '../src/warnings.ts'
import type { World } from '../src/world.ts'

export interface Said {
  readonly level: 'debug' | 'warn' | 'error'
  readonly facts: object
  readonly message: string
}

export interface Opened {
  readonly subprocess: LocalSubprocess
  readonly runtime: Runtime
  /** What was logged, oldest first. */
  readonly said: Said[]
  /** A directory of the test's own; the private directory is made in it. */
  readonly directory: string
  close(): Promise<void>
}

/** How commands are started where a test does not say: everything holds either way. */
export const LAUNCHER = process.env.TENON_TEST_LAUNCHER === 'host' ? 'host' : 'process'

/** A provider over the real machine, closed with the test at the latest. A launcher process is there when it resolves, if it can be. */
export async function openProvider(
  change: {
    world?: Partial<World>
    settings?: Partial<Settings>
    rules?: Partial<ScrubRules>
    leavesSurvivors?: boolean
    awaitsLauncher?: boolean
  } = {},
): Promise<Opened> {
  const directory = mkdtempSync(join(tmpdir(), 'subprocess-test-'))
  const said: Said[] = []
  const sayer =
    (level: Said['level']) =>
    (facts: object, message: string): void =>
      void said.push({ level, facts, message })
  const log: Log = { debug: sayer('debug'), warn: sayer('warn'), error: sayer('error') }
  const settings: Settings = {
    spillDirectory: directory,
    pipeDirectories: [change.settings?.spillDirectory ?? directory],
    minFreeBytes: 0,
    retainedSpillBytes: 2 ** 40,
    killWaitMs: 5_000,
    launcher: change.world?.hostLauncher === undefined ? LAUNCHER : 'host',
    ...change.settings,
  }
  const runtime = new Runtime({ ...systemWorld(), ...change.world }, settings, log)
  runtime.adopt(settings, log)
  const subprocess = new LocalSubprocess(runtime, { allow: [], deny: DEFAULT_DENIED_NAMES, dropNodeOptions: false, ...change.rules }, log)
  onTestFinished(async () => {
    const failure: unknown = await runtime.close().then(
      () => undefined,
      (error: unknown) => error,
    )
    rmSync(directory, { recursive: true, force: true })
    if (failure !== undefined && change.leavesSurvivors !== true) throw failure
  })
  if (change.awaitsLauncher !== false) await runtime.launcher.idle()
  return { subprocess, runtime, said, directory, close: () => runtime.close() }
}

export const tail: Collect = { maxBytes: 65_536 }
export const spilling: Collect = { maxBytes: 65_536, spill: { maxBytes: 64 * 1_024 ** 2 } }

/** A spec in which only what matters is written down. */
export function spec(argv: readonly [string, ...string[]], change: Partial<SpawnSpec> = {}): SpawnSpec {
  return { argv, cwd: '/', stdin: 'ignore', stdout: tail, stderr: tail, graceMs: 1_000, ...change }
}

export function sh(script: string, change: Partial<SpawnSpec> = {}): SpawnSpec {
  return spec(['sh', '-c', script], change)
}
