import { readdir } from 'node:fs/promises'
import type { SandboxFacts, SandboxPolicy } from '@tenon/shell'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ConfinedLaunch, ConfinedOutcome, Confinement, PreparedLaunch } from '../src/index.ts'
import { type Executor, withExecutor } from './executor.ts'
import { spawnFailed } from './scripted-subprocess.ts'

const policy: SandboxPolicy = { mode: 'workspace-write', workspaceRoot: '/srv' }

/** A sandbox that wraps a launch and counts what becomes of it. */
class CountingConfinement implements Confinement {
  readonly policy = policy
  readonly prepared: { launch: PreparedLaunch; policy: SandboxPolicy; signal: AbortSignal }[] = []
  readonly outcomes: ConfinedOutcome[] = []
  released = 0
  verdict: (outcome: ConfinedOutcome) => { facts: SandboxFacts; detail?: string } = () => ({ facts: { mode: policy.mode, denied: false } })
  /** Holds the preparation until it resolves. */
  gate: Promise<void> = Promise.resolve()

  async prepare(launch: PreparedLaunch, asked: SandboxPolicy, signal: AbortSignal): Promise<ConfinedLaunch> {
    this.prepared.push({ launch, policy: asked, signal })
    await this.gate
    return {
      ...launch,
      argv: ['/sbin/jail', '--', ...launch.argv],
      argv0: 'jail',
      env: { ...launch.env, JAILED: String(this.prepared.length) },
      facts: { mode: asked.mode, denied: false, enforcement: 'full' },
      classify: (outcome) => {
        this.outcomes.push(outcome)
        return this.verdict(outcome)
      },
      release: () => {
        this.released++
      },
    }
  }
}

const confined = (body: (executor: Executor, confinement: CountingConfinement) => Promise<void>): Promise<void> => {
  const confinement = new CountingConfinement()
  return withExecutor({ confinement }, (executor) => body(executor, confinement))
}

describe('a confining executor', () => {
  afterEach(() => void vi.useRealTimers())

  it('SH-39 the sandbox gets the exact launch and policy of every execution, and its own launch reaches the spawn untouched', () =>
    confined(async ({ execute, processes, shell }, confinement) => {
      expect(shell.sandboxMode).toBe('workspace-write')
      const mine: SandboxPolicy = { mode: 'read-only', workspaceRoot: '/w', sessionId: 's-1' }
      for (const sandboxPolicy of [undefined, mine]) {
        await execute({ command: 'id', workdir: '/', env: { A: 'a' }, managedEnv: { TENON_X: 'x' }, ...(sandboxPolicy && { sandboxPolicy }) })
      }
      expect(confinement.prepared.map(({ policy: asked }) => asked)).toEqual([policy, mine])
      const env = { NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', TERM: 'dumb', A: 'a', TENON_X: 'x' }
      for (const [index, { launch }] of confinement.prepared.entries()) {
        expect(launch).toEqual({ argv: [process.execPath, '--norc', '-c', 'id'], argv0: 'bash', workdir: '/', env })
        expect(processes.spawned[index]?.spec).toMatchObject({
          argv: ['/sbin/jail', '--', process.execPath, '--norc', '-c', 'id'],
          argv0: 'jail',
          cwd: '/',
          env: { ...env, JAILED: String(index + 1) },
        })
      }
    }))

  it('SH-39 overlapping executions keep their own facts', () =>
    confined(async ({ execute, processes }, confinement) => {
      confinement.verdict = ({ stderrTail }) => ({ facts: { mode: policy.mode, denied: stderrTail.includes('denied') } })
      const first = await execute({ command: 'a' })
      const second = await execute({ command: 'b' })
      processes.spawned[1]?.write('fine', 'stderr').exit(1)
      await second.done
      processes.spawned[0]?.write('access denied', 'stderr').exit(1)
      await first.done
      expect([first.sandbox?.denied, second.sandbox?.denied]).toEqual([true, false])
      expect((await first.result()).sandbox).toEqual({ mode: 'workspace-write', denied: true })
    }))

  it('SH-40 facts are there at once, also of a launch that fails instantly; classify runs once and before done, release once', () =>
    confined(async ({ execute, processes }, confinement) => {
      const running = await execute({ command: 'a' })
      expect(running.sandbox).toEqual({ mode: 'workspace-write', denied: false, enforcement: 'full' })
      const order: string[] = []
      confinement.verdict = () => {
        order.push('classify')
        return { facts: { mode: policy.mode, denied: false } }
      }
      void running.done.then(() => order.push('done'))
      processes.last.exit(0)
      await running.done
      expect(order).toEqual(['classify', 'done'])
      const raised = new Error('spawn EACCES')
      processes.startFails = spawnFailed(raised)
      const failed = await execute({ command: 'a' })
      expect(failed.sandbox).toEqual({ mode: 'workspace-write', denied: false })
      await expect(failed.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN' })
      await failed.result().catch(() => undefined)
      expect(confinement.outcomes.map((outcome) => outcome.spawnError)).toEqual([undefined, raised])
      expect(confinement.released).toBe(2)
    }))

  it.each(['abort', 'deadline'] as const)(
    'SH-12 SH-13 SH-40 a launch that is prepared too late (%s) is released once, not spawned, and its script is removed',
    (way) =>
      confined(async ({ execute, processes, directory }, confinement) => {
        let open = (): void => undefined
        confinement.gate = new Promise((resolve) => {
          open = resolve
        })
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
        const controller = new AbortController()
        const running = execute({ command: 'x'.repeat(100_000), signal: controller.signal, timeoutMs: 60_000 }).then(
          (execution) => execution.status,
          (error: unknown) => error,
        )
        while (confinement.prepared.length === 0) await new Promise((resolve) => setImmediate(resolve))
        if (way === 'abort') controller.abort()
        else vi.advanceTimersByTime(60_000)
        expect(await running).toBe(way === 'abort' ? controller.signal.reason : 'killed')
        expect(confinement.prepared[0]?.signal.aborted).toBe(true)
        expect(confinement.released).toBe(0)
        open()
        while (confinement.released === 0) await new Promise((resolve) => setImmediate(resolve))
        const [folder] = await readdir(directory)
        while ((await readdir(`${directory}/${folder}`)).length > 0) await new Promise((resolve) => setImmediate(resolve))
        expect([confinement.released, processes.spawned, confinement.outcomes]).toEqual([1, [], []])
      }),
  )

  it('SH-40 a sandbox whose release fails, or never ends, delays nothing', () =>
    confined(async ({ execute, processes, warnings }, confinement) => {
      const broken = new Error('cannot tidy up')
      const ways = [() => Promise.reject(broken), () => new Promise<void>(() => undefined)]
      const prepare = confinement.prepare.bind(confinement)
      confinement.prepare = async (...input) => ({ ...(await prepare(...input)), release: ways.shift() ?? (() => undefined) })
      for (let count = 0; count < 2; count++) {
        const execution = await execute({ command: 'a' })
        processes.last.exit(0)
        await execution.done
      }
      await new Promise((resolve) => setImmediate(resolve))
      expect(warnings).toEqual([broken])
    }))

  const eager: SandboxFacts = { mode: 'workspace-write', denied: true, runnerFailed: true }
  const denial: SandboxFacts = { mode: 'workspace-write', denied: true }
  it.each<[string, SandboxFacts, { exitCode: number | null; signal?: NodeJS.Signals; abort?: true }, SandboxFacts]>([
    [
      'an abort outranks a runner failure and a denial',
      eager,
      { exitCode: null, signal: 'SIGTERM', abort: true },
      { mode: 'workspace-write', denied: false },
    ],
    ['a runner failure outranks a denial', eager, { exitCode: 1 }, { mode: 'workspace-write', denied: false, runnerFailed: true }],
    ['a denial is one', denial, { exitCode: 1 }, denial],
    ['a clean exit is no denial', denial, { exitCode: 0 }, { mode: 'workspace-write', denied: false }],
    ['a death by signal is no denial', denial, { exitCode: null, signal: 'SIGKILL' }, { mode: 'workspace-write', denied: false }],
  ])('SH-41 %s', (_what, said, end, facts) =>
    confined(async ({ execute, processes }, confinement) => {
      confinement.verdict = () => ({ facts: said, detail: 'no user namespaces' })
      const controller = new AbortController()
      const execution = await execute({ command: 'a', signal: controller.signal })
      if (end.abort) controller.abort()
      processes.last.exit(end.exitCode, end.signal ?? null)
      await execution.done
      expect(execution.sandbox).toEqual(facts)
      if (facts.runnerFailed !== true) expect((await execution.result()).sandbox).toEqual(facts)
      else
        await expect(execution.result()).rejects.toMatchObject({
          code: 'SANDBOX_UNAVAILABLE',
          message: expect.stringContaining('no user namespaces'),
        })
    }),
  )

  it('SH-41 a runner that cannot even be started is SANDBOX_UNAVAILABLE with the cause', () =>
    confined(async ({ execute, processes }, confinement) => {
      const raised = new Error('spawn ENOENT')
      confinement.verdict = ({ spawnError }) => ({ facts: { mode: policy.mode, denied: false, runnerFailed: spawnError === raised } })
      processes.startFails = spawnFailed(raised)
      const execution = await execute({ command: 'a' })
      await expect(execution.result()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', cause: raised })
      expect(execution.sandbox?.runnerFailed).toBe(true)
    }))

  it('SH-41 a sandbox that fails to classify leaves the facts it prepared with, and the result', () =>
    confined(async ({ execute, processes, warnings }, confinement) => {
      const broken = new Error('cannot tell')
      confinement.verdict = () => {
        throw broken
      }
      const execution = await execute({ command: 'a' })
      processes.last.exit(2)
      expect(await execution.result()).toMatchObject({ exitCode: 2, sandbox: { enforcement: 'full', denied: false } })
      expect(warnings).toEqual([broken])
    }))

  it('SH-42 danger-full-access bypasses the sandbox and reports its mode', () =>
    confined(async ({ execute, processes }, confinement) => {
      const execution = await execute({ command: 'a', sandboxPolicy: { mode: 'danger-full-access', workspaceRoot: '/' } })
      processes.last.exit(1)
      expect((await execution.result()).sandbox).toEqual({ mode: 'danger-full-access', denied: false })
      expect([confinement.prepared, processes.last.spec.argv[0]]).toEqual([[], process.execPath])
    }))

  it('SH-42 a sandbox that refuses is SANDBOX_UNAVAILABLE with its cause, and leaves no script', () =>
    confined(async ({ execute, processes, directory }, confinement) => {
      const refusal = new Error('no user namespaces')
      confinement.gate = Promise.reject(refusal)
      confinement.gate.catch(() => undefined)
      await expect(execute({ command: 'x'.repeat(100_000) })).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', cause: refusal })
      const [folder] = await readdir(directory)
      expect([await readdir(`${directory}/${folder}`), processes.spawned]).toEqual([[], []])
    }))

  it('SH-42 a spec without a policy is refused: it was not made by this executor', () =>
    confined(async ({ shell, processes }) => {
      const spec = { ...shell.resolve({ command: 'a' }), sandboxPolicy: null }
      await expect(shell.execute(spec)).rejects.toMatchObject({ code: 'SHELL_BAD_REQUEST', details: { field: 'sandboxPolicy' } })
      expect(processes.spawned).toEqual([])
    }))
})

describe('a plain executor', () => {
  it('SH-42 has no mode, rejects a confining policy without running anything, and runs danger-full-access', () =>
    withExecutor({}, async ({ shell, execute, processes, directory }) => {
      expect(shell.sandboxMode).toBeUndefined()
      expect(shell.resolve({ command: '' }).sandboxPolicy).toBeNull()
      for (const mode of ['read-only', 'workspace-write'] as const) {
        const refused = execute({ command: 'x'.repeat(100_000), sandboxPolicy: { mode, workspaceRoot: '/' } })
        await expect(refused).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining(mode) })
      }
      expect([processes.spawned, await readdir(directory)]).toEqual([[], []])
      const open = await execute({ command: '', sandboxPolicy: { mode: 'danger-full-access', workspaceRoot: '/' } })
      processes.last.exit(0)
      expect((await open.result()).sandbox).toEqual({ mode: 'danger-full-access', denied: false })
      const plain = await execute({ command: '' })
      processes.last.exit(0)
      expect(await plain.result()).not.toHaveProperty('sandbox')
    }))
})
