import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { type Opened, openProvider, sh } from './open-provider.ts'

export interface OpenedLauncher extends Opened {
  /** Of the launcher that is in use. */
  readonly launcher: number
}

/** A provider whose commands are started by a launcher process. */
export async function openLaunched(change: Parameters<typeof openProvider>[0] = {}): Promise<OpenedLauncher> {
  const opened = await openProvider(change)
  return { ...opened, launcher: launcherOf(opened) }
}

export function launcherOf({ runtime }: Opened): number {
  const { pid } = runtime.launcher
  if (pid === undefined) throw new Error('there is no launcher')
  return pid
}

/** Who starts the commands. */
export async function parentOf({ subprocess }: Opened): Promise<number> {
  const handle = subprocess.spawn(sh('echo $PPID'))
  await handle.done
  return Number(textOf(handle))
}

export function textOf(handle: { readonly output: { readonly stdout?: { readFrom(offset: number): { readonly text: string } } } }): string {
  return handle.output.stdout?.readFrom(0).text ?? ''
}

/** As `/proc/PID/stat` has it: `T` is stopped. */
export function stateOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0] ?? ''
}

/** Stops the launcher, for good as far as the test is concerned. */
export async function stop(launcher: number): Promise<void> {
  process.kill(launcher, 'SIGSTOP')
  await expect.poll(() => stateOf(launcher)).toBe('T')
}

/** Kills the launcher and waits until the provider has noticed. */
export async function kill(opened: OpenedLauncher): Promise<void> {
  process.kill(opened.launcher, 'SIGKILL')
  await expect.poll(() => opened.runtime.launcher.pid).not.toBe(opened.launcher)
}

/** Messages of the level, oldest first. */
export function saidAs({ said }: Opened, level: 'warn' | 'error' | 'debug'): string[] {
  return said.filter((each) => each.level === level).map(({ message }) => message)
}
