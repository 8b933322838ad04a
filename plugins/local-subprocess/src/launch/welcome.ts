import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { discard } from '../channel/discard.ts'
import { createPrivateFile } from '../channel/private-file.ts'
import type { Clock } from '../clock.ts'
import type { Commission } from './messages.ts'
import { exitOf } from './process-exit.ts'
import { type Guest, Reception } from './reception.ts'
import { StartLedger } from './start-ledger.ts'

/** Starts the launcher process in the given directory. @throws what spawn throws */
export type StartLauncher = (cwd: string) => ChildProcess

/** A launcher process that has greeted. */
export interface Welcomed extends Guest {
  readonly process: ChildProcess
  readonly ledger: StartLedger
}

/** Starts a launcher process in a directory and waits for its greeting. Rejects, with nothing left, if none comes or `signal` aborts. */
export async function welcome(
  folder: string,
  { start, clock }: { readonly start: StartLauncher; readonly clock: Clock },
  commission: Commission,
  signal: AbortSignal,
): Promise<Welcomed> {
  const reception = await Reception.open(folder, commission.socket, commission.token)
  const ledgerPath = join(folder, commission.ledger)
  let launcher: ChildProcess | undefined
  let ledger: StartLedger | undefined
  try {
    signal.throwIfAborted()
    ledger = new StartLedger(createPrivateFile(ledgerPath))
    launcher = start(folder)
    launcher.unref()
    const failure = failureOf(launcher)
    launcher.stdin?.on('error', () => undefined)
    launcher.stdin?.end(JSON.stringify(commission))
    const guest = await Promise.race([reception.guest, failure, reasonOf(signal)])
    return { ...guest, process: launcher, ledger }
  } catch (error) {
    ledger?.close()
    launcher?.kill('SIGKILL')
    if (launcher !== undefined) await exitOf(launcher, clock, 0)
    throw error
  } finally {
    discard(ledgerPath)
    reception.close()
  }
}

function failureOf(launcher: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    launcher.once('error', reject)
    launcher.once('exit', (code, signal) => reject(new Error(`the launcher process ended with ${signal ?? code} before it had greeted`)))
  })
}

function reasonOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
