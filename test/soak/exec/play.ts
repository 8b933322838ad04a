import type { ShellExecution, ShellRequest } from '@tenon/shell'
import { type Cause, type Ending, judge } from './judge.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

/** One generated command with all that is done to it. */
export interface Scene {
  /** For the report of a fault. */
  readonly what: string
  /** Resolves with what was done in a word, and with all faults. */
  play(world: World): Promise<Played>
}

export interface Played {
  readonly outcome: string
  readonly faults: readonly string[]
}

export type Stop =
  | { readonly by: 'nothing' | 'deadline' }
  /** So long after the call of `execute`. */
  | { readonly by: 'abort' | 'kill'; readonly afterMs: number }
  /** As soon as stdout has this text. */
  | { readonly by: 'abort' | 'kill'; readonly at: string }

export interface Plan {
  readonly request: ShellRequest
  readonly stop: Stop
  /** Undefined: it never ends by itself. */
  readonly natural?: Ending
  readonly stopped?: readonly Ending[]
  /** Read on the way, too: what was delivered must be the whole. Only for commands that write to stdout alone. */
  readonly isRead?: boolean
  /** Its files are left to the next checkpoint. */
  readonly isKept?: boolean
  /** What the command left behind. */
  afterwards?(execution: ShellExecution): Promise<readonly string[]>
}

/** Of what is stopped in the ordinary way, wherever it was. */
export function cut(natural: Pick<Ending, 'stdout' | 'stderr'>): Ending[] {
  return [
    { ...natural, exitCode: null, signal: 'SIGTERM', isCut: true },
    // The deadline, or the abort, came before there was a process.
    { ...natural, exitCode: null, signal: null, isCut: true },
  ]
}

/** Plays a plan against the shell and judges how it ends. */
export async function run(world: World, plan: Plan): Promise<Played> {
  const { stop } = plan
  const own = new AbortController()
  const reason = new Error('a cancel')
  const signal = stop.by === 'abort' ? own.signal : world.session.signal
  let execution: ShellExecution | undefined
  let isDue = false
  let killed = false
  const act = (): void => {
    isDue = true
    if (stop.by === 'abort') own.abort(reason)
    else killed = execution?.kill() ?? false
  }
  const executing = world.shell.execute(world.shell.resolve({ ...plan.request, signal }))
  const timer = 'afterMs' in stop ? setTimeout(act, stop.afterMs) : undefined
  try {
    try {
      execution = await executing
    } catch (error) {
      return error === reason ? { outcome: 'aborted while it was prepared', faults: [] } : refused(error)
    }
    // It was to be killed before there was anything to kill.
    if (isDue && stop.by === 'kill') act()
    const delivered = plan.isRead ? readAll(execution) : undefined
    if ('at' in stop) {
      await seen(execution, stop.at)
      act()
    }
    const result = await execution.result()
    const cause: Cause = result.timedOut ? 'deadline' : result.aborted ? 'abort' : killed ? 'kill' : 'nothing'
    const faults = await judge(execution, result, cause, endingsOf(plan, cause))
    if (cause !== 'nothing' && cause !== stop.by) faults.push(`ended by ${cause}; what was done was ${stop.by}`)
    if (cause === 'nothing' && plan.natural === undefined) faults.push('ended by itself, and cannot')
    const all = await delivered
    if (all !== undefined && !all.lossy && all.text !== execution.observed.stdout.readFrom(0).text && !result.stdout.truncated)
      faults.push(`the deltas are another text: ${JSON.stringify(all.text.slice(-80))}`)
    faults.push(...((await plan.afterwards?.(execution)) ?? []))
    const readers = [execution.observed.stdout, execution.observed.stderr]
    if (plan.isKept) world.keep(readers)
    else for (const reader of readers) reader.release()
    return { outcome: cause === 'nothing' ? 'ended by itself' : `ended by ${cause}`, faults }
  } catch (error) {
    return refused(error)
  } finally {
    clearTimeout(timer)
  }
}

/** When a command that ends by itself is to be stopped, and how: any moment, from before it runs until long after. */
export function randomStop(random: Random): Stop {
  return { by: random.pick(['abort', 'kill'] as const), afterMs: random.chance(0.3) ? 0 : random.size(1, 60) }
}

function endingsOf({ natural, stopped = [] }: Plan, cause: Cause): readonly Ending[] {
  const own = natural === undefined ? [] : [natural]
  return cause === 'nothing' ? own : [...own, ...stopped]
}

function refused(error: unknown): Played {
  return { outcome: 'refused', faults: [`execute rejected: ${error instanceof Error ? (error.stack ?? String(error)) : String(error)}`] }
}

async function readAll(execution: ShellExecution): Promise<{ text: string; lossy: boolean }> {
  const settled = new AbortController()
  void execution.done.then(() => settled.abort())
  let delivered = { text: '', lossy: false }
  const take = (): void => {
    const { delta, lossy } = execution.readOutput()
    delivered = { text: delivered.text + delta, lossy: delivered.lossy || lossy }
  }
  const { stdout } = execution.observed
  while (await stdout.changed(stdout.size(), settled.signal)) take()
  await execution.done
  take()
  return delivered
}

/** Resolves when stdout has the text, or the command has ended without it. */
async function seen(execution: ShellExecution, mark: string): Promise<void> {
  const settled = new AbortController()
  void execution.done.then(() => settled.abort())
  const { stdout } = execution.observed
  for (let size = stdout.size(); !stdout.readFrom(0).text.includes(mark); size = stdout.size()) {
    if (!(await stdout.changed(size, settled.signal))) return
  }
}
