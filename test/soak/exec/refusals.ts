import { ShellError, type ShellExecution } from '@tenon/shell'
import type { Played, Scene } from './play.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

/** What never gets as far as a process. */
export function refusal(random: Random): Scene {
  const [what, play] = random.pick(Object.entries(refusals))
  return { what, play: async (world) => ({ outcome: 'did not run', faults: await play(world) }) satisfies Played }
}

const refusals: Readonly<Record<string, (world: World) => Promise<string[]>>> = {
  async 'aborted before'({ shell }) {
    const signal = AbortSignal.abort()
    const execution = await shell.execute(shell.resolve({ command: 'echo never', signal }))
    const { aborted, timedOut, exitCode, signal: died, stdout } = await execution.result()
    const facts = [aborted, timedOut, exitCode, died, stdout.bytes, execution.status, await execution.survivors(), execution.kill()]
    return unless(facts, [true, false, null, null, 0, 'killed', 0, false])
  },
  async 'aborted during preparation'({ shell }) {
    const own = new AbortController()
    const reason = new Error('a reason')
    const executing = shell.execute(shell.resolve({ command: 'echo never', signal: own.signal }))
    own.abort(reason)
    // Without a launcher there is a process already, which is ended.
    const outcome = await executing.catch((error: unknown) => error)
    return outcome === reason || (outcome as ShellExecution).status === undefined
      ? unless(outcome, reason)
      : unless((await (outcome as ShellExecution).result()).aborted, true)
  },
  async 'a directory that is missing'({ shell, session }) {
    return unless(await code(shell.execute(shell.resolve({ command: 'true', workdir: '/nowhere', signal: session.signal }))), 'SHELL_BAD_CWD')
  },
  async 'a text with NUL'({ shell }) {
    return unless(await code(Promise.resolve().then(() => shell.resolve({ command: 'a\0b' }))), 'SHELL_BAD_COMMAND')
  },
  async 'an environment that is too large'({ shell, session }) {
    const spec = shell.resolve({ command: 'true', env: { LARGE: 'x'.repeat(200_000) }, signal: session.signal })
    const execution = await shell.execute(spec)
    return unless(
      [await code(execution.result()), execution.status, execution.readOutput().delta.includes('spawn failed: ')],
      ['SHELL_SPAWN', 'killed', true],
    )
  },
  async 'a program that is missing'({ subprocess, session }) {
    const collect = { maxBytes: 1_000, spill: { maxBytes: 10_000 } }
    const spec = { argv: ['a-program-that-is-missing'], cwd: '/tmp', stdin: { data: 'x' }, stdout: collect, stderr: collect, graceMs: 100 } as const
    const handle = subprocess.spawn({ ...spec, signal: session.signal })
    const error = await rejection(handle.done)
    const { code: told, cause } = error as { code?: string; cause?: NodeJS.ErrnoException }
    return unless([handle.pid, told, cause?.code, await handle.waitForExit()], [undefined, 'SPAWN_FAILED', 'ENOENT', true])
  },
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )
}

async function code(promise: Promise<unknown>): Promise<unknown> {
  const error = await rejection(promise)
  return error instanceof ShellError ? error.code : error
}

function unless(is: unknown, expected: unknown): string[] {
  const told = (value: unknown): string => (value instanceof Error ? String(value) : JSON.stringify(value, (_, part: unknown) => part ?? null))
  return is === expected || (typeof is === 'object' && told(is) === told(expected)) ? [] : [`is ${told(is)}, not ${told(expected)}`]
}
