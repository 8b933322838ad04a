import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kernel } from '@tenon/kernel'
import type { SandboxFacts, ShellExecution, ShellRequest } from '@tenon/shell'
import { Subprocess } from '@tenon/subprocess'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import localSubprocess from '../../../plugins/local-subprocess/test/launched.ts'
import { bash, type Confinement, hostOf, LocalShell, localShellConfig, scriptDirectory } from '../src/index.ts'
import { removeScripts } from '../src/script-directory.ts'

const policy = { mode: 'workspace-write', workspaceRoot: '/srv' } as const

/** A "sandbox" that is a small script before the command: it refuses some, fails for others, and says so by exit code. */
const RUNNER = 'case "$JAIL" in broken) echo "no namespaces" >&2; exit 99;; esac; export JAILED="$JAIL"; exec "$@"'

describe('a confining executor over real processes', () => {
  const kernel = new Kernel()
  const released: string[] = []
  let directory = ''
  /** Holds every preparation until it resolves. */
  let gate = Promise.resolve()
  let runner = '/bin/sh'
  let shell: LocalShell
  let close = async (): Promise<void> => undefined

  const confinement: Confinement = {
    policy,
    prepare: async (launch) => {
      await gate
      return {
        ...launch,
        argv: [runner, '-c', RUNNER, 'jail', ...launch.argv],
        argv0: 'sh',
        facts: { mode: policy.mode, denied: false, enforcement: 'partial' },
        classify: ({ exit, spawnError, stderrTail }) => ({
          facts: { mode: policy.mode, denied: stderrTail.includes('Read-only'), runnerFailed: spawnError !== undefined || exit?.exitCode === 99 },
          detail: stderrTail.trim(),
        }),
        release: () => void released.push(launch.env.JAIL ?? ''),
      }
    },
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tenon-confined-'))
    await kernel.load(localSubprocess, {}).ready()
    const processes = kernel.get(Subprocess)
    if (processes === undefined) throw new Error('no process provider')
    const scripts = scriptDirectory(directory)
    const host = hostOf(process, scripts, (error) => expect.unreachable(String(error)))
    const config = localShellConfig(process.platform).parse({ cwd: directory, graceMs: 300 })
    shell = new LocalShell(bash, processes, config, host, confinement)
    close = () => removeScripts(scripts)
  })
  afterAll(async () => {
    await kernel[Symbol.asyncDispose]()
    await close()
    await rm(directory, { recursive: true })
  })

  const execute = (command: string, jail: string, more: Partial<ShellRequest> = {}): Promise<ShellExecution> =>
    shell.execute(shell.resolve({ command, env: { JAIL: jail }, ...more }))

  it('SH-39 overlapping commands run in their own sandbox and keep their own facts', async () => {
    const commands = ['one', 'two', 'three'].map(async (jail): Promise<[string, SandboxFacts | undefined]> => {
      const execution = await execute(`echo "$JAILED"; ${jail === 'two' ? 'echo Read-only >&2; exit 1' : 'sleep 0.05'}`, jail)
      const result = await execution.result()
      return [result.stdout.text, result.sandbox]
    })
    expect(await Promise.all(commands)).toEqual([
      ['one\n', { mode: 'workspace-write', denied: false }],
      ['two\n', { mode: 'workspace-write', denied: true }],
      ['three\n', { mode: 'workspace-write', denied: false }],
    ])
    expect(released.toSorted()).toEqual(['one', 'three', 'two'])
  })

  it('SH-26 B091 a heredoc of every awkward sign arrives byte for byte through the sandbox, short and long', async () => {
    const heredoc = `single ' double " tick \` $HOME $(id) back\\slash\\\n!bang! tab\t cr\r\n≤ 🛑\n`
    for (const padding of ['', 'x'.repeat(140_000)]) {
      const text = `${heredoc}${padding}\n`
      const execution = await execute(`cat > copy <<'END'\n${text}END`, 'heredoc')
      expect(await execution.result()).toMatchObject({ exitCode: 0, stderr: { text: '' } })
      expect(await readFile(join(directory, 'copy'), 'utf8')).toBe(text)
    }
  })

  it.each(['kill', 'none'] as const)('SH-13 B031 a sandbox that is ready after the deadline starts nothing, then or later (%s)', async (onExpiry) => {
    let ready = (): void => undefined
    gate = new Promise((resolve) => {
      ready = resolve
    })
    released.length = 0
    const late = await execute('touch late', 'late', { timeoutMs: 100, onExpiry })
    expect(late).toMatchObject({ status: 'killed', exitCode: null, signal: null })
    expect(await late.result()).toMatchObject({ timedOut: true, aborted: false, stdout: { text: '' }, stderr: { text: '' } })
    ready()
    await expect.poll(() => released).toEqual(['late'])
    // What runs later would find what had run before.
    await (await execute('sleep 0.1', 'after')).done
    expect(await readdir(directory)).not.toContain('late')
  })

  it('SH-39 a long text goes through the sandbox as a file, and is gone afterwards', async () => {
    const execution = await execute(`echo "$JAILED" #${'x'.repeat(200_000)}`, 'long')
    expect((await execution.result()).stdout.text).toBe('long\n')
    const scripts = (await readdir(directory)).find((name) => name.startsWith('tenon-shell-'))
    expect(await readdir(join(directory, scripts ?? 'none'))).toEqual([])
  })

  it('SH-41 a runner that fails is SANDBOX_UNAVAILABLE, with what it said; the handle keeps the fact', async () => {
    const execution = await execute('echo ran', 'broken')
    await expect(execution.result()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('no namespaces') })
    expect(execution.sandbox).toEqual({ mode: 'workspace-write', denied: false, runnerFailed: true })
    expect(execution.readOutput().delta).toBe('[stderr]\nno namespaces\n')
  })

  it('SH-41 a command that says "Read-only" and succeeds, or dies by a signal, was not denied', async () => {
    for (const end of ['exit 0', 'kill -9 $$']) {
      const execution = await execute(`echo Read-only >&2; ${end}`, 'fine')
      expect((await execution.result()).sandbox).toEqual({ mode: 'workspace-write', denied: false })
    }
  })

  it('SH-41 an abort outranks everything', async () => {
    const controller = new AbortController()
    const execution = await execute(`trap 'echo Read-only >&2; exit 99' TERM; echo up; sleep 30 & wait`, 'aborted', { signal: controller.signal })
    await execution.observed.stdout.changed(0, AbortSignal.timeout(10_000))
    controller.abort()
    expect(await execution.result()).toMatchObject({ aborted: true, exitCode: 99, sandbox: { mode: 'workspace-write', denied: false } })
    expect(execution.sandbox).not.toHaveProperty('runnerFailed')
  })

  it('SH-40 a runner that is not there settles with facts, and is released', async () => {
    runner = '/no/such/runner'
    released.length = 0
    const execution = await execute('echo ran', 'missing')
    expect(execution).toMatchObject({ status: 'killed', sandbox: { mode: 'workspace-write', denied: false, runnerFailed: true } })
    await expect(execution.result()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', cause: { code: 'ENOENT' } })
    expect(released).toEqual(['missing'])
    runner = '/bin/sh'
  })

  it('SH-42 danger-full-access runs without the sandbox', async () => {
    const execution = await execute('echo "<$JAILED>"', 'free', { sandboxPolicy: { mode: 'danger-full-access', workspaceRoot: '/' } })
    expect(await execution.result()).toMatchObject({ stdout: { text: '<>\n' }, sandbox: { mode: 'danger-full-access', denied: false } })
  })
})
