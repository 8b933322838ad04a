import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSession } from '@tenon/session'
import { ShellError } from '@tenon/shell'
import type { ToolResult } from '@tenon/tools'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, delivered, shown } from './composition.ts'
import { ScriptedShell } from './scripted-shell.ts'

const NAMES = ['bash', 'pwsh'] as const
/** Says where it runs and what it was given. */
const shell = new ScriptedShell((run, spec) => {
  run.stdout.write(`${spec.workdir}\n`)
  run.end()
})
let app: Composition
afterEach(() => app[Symbol.asyncDispose]())
const open = async (tool: 'bash' | 'pwsh', more: object = {}): Promise<void> => {
  shell.specs.length = 0
  app = await compose({ tool, ...(tool === 'pwsh' ? { shell } : {}), ...more })
}
const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : 'no error')

describe.each(NAMES)('%s, arguments', (tool) => {
  it('TB-04 workdir: absolute as it is, relative from the session, absent the session; two sessions apart', async () => {
    await open(tool)
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'workdir-')))
    try {
      const other = openSession(app.kernel.scope, { id: 'two', cwd: '/usr' })
      const where = async (args: object, session = app.session) => shown(await app.run('pwd', { ...args }, { session }))
      expect(await where({ workdir: directory })).toBe(`${directory}\n`)
      expect(await where({})).toBe('/tmp\n')
      expect(await where({}, other)).toBe('/usr\n')
      expect(await where({ workdir: 'bin/..' }, other)).toBe('/usr\n')
      expect(await where({ workdir: '../usr/lib' }, other)).toBe('/usr/lib\n')
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('TB-05 what is wrong is listed together, and nothing is spawned', async () => {
    await open(tool)
    const refused = async (args: object) => told(await app.call(args))
    expect(await refused({ command: ' \n', description: '', timeoutMs: 0 })).toBe(
      'TOOL_ARGUMENTS: invalid command: expected a non-empty string\ninvalid description: expected a non-empty string\ninvalid timeoutMs: expected a positive number, got 0',
    )
    expect(await refused({ command: 'a\0b', description: 'c\0', workdir: '/\0', timeoutMs: -1 })).toBe(
      'TOOL_ARGUMENTS: invalid command: NUL characters are not allowed\ninvalid description: NUL characters are not allowed\ninvalid timeoutMs: expected a positive number, got -1\ninvalid workdir: NUL characters are not allowed',
    )
    expect(await refused({ command: 7, timeoutMs: '5' })).toBe(
      'TOOL_ARGUMENTS: invalid command: expected a non-empty string\ninvalid description: expected a non-empty string\ninvalid timeoutMs: expected a positive number, got "5"',
    )
    expect(shell.specs).toEqual([])
  })

  it.each([
    [0.5, 1],
    [1.2, 2],
    [99_999_999_999, 600_000],
    [600_000, 600_000],
  ])('TB-05 timeoutMs %d is %d', async (timeoutMs, effective) => {
    await open(tool)
    expect(delivered(await app.run('true', { timeoutMs }))).toMatchObject({ timeoutMs: effective })
  })

  it('TB-06 environment, stdin and output limits are refused as unknown', async () => {
    await open(tool)
    expect(told(await app.run('true', { env: {}, stdin: 'x', stdoutMaxBytes: 9, workDir: '/' }))).toBe(
      'TOOL_ARGUMENTS: unknown argument "env"\nunknown argument "stdin"\nunknown argument "stdoutMaxBytes"\nunknown argument "workDir"; did you mean "workdir"?',
    )
    expect(shell.specs).toEqual([])
  })

  it('TB-06 the managed environment is there', async () => {
    await open(tool)
    if (tool === 'bash') expect(shown(await app.run('echo $TENON_SHELL $TENON_SESSION_ID'))).toBe('1 one\n')
    else {
      await app.run('x')
      expect(shell.specs[0]?.managedEnv).toMatchObject({ TENON_SHELL: '1', TENON_SESSION_ID: 'one' })
      expect(Object.keys(shell.specs[0] ?? {}).sort()).toEqual([
        'command',
        'managedEnv',
        'onExpiry',
        'sandboxPolicy',
        'signal',
        'stdoutMaxBytes',
        'timeoutMs',
        'workdir',
      ])
    }
  })

  it('TB-09 run_in_background without a registry, and with the switch off: the two texts; false is accepted', async () => {
    await open(tool)
    const without = 'TOOL_ARGUMENTS: background jobs unavailable: load plugin-jobs and plugin-tool-jobs to run commands in the background'
    expect(told(await app.run('true', { run_in_background: true }))).toBe(without)
    expect(told(await app.run('true', { run_in_background: 'yes', timeoutMs: 0 }))).toBe(
      `${without}\ninvalid timeoutMs: expected a positive number, got 0`,
    )
    expect(told(await app.run('true', { run_in_background: false }))).toBe('no error')
    await app[Symbol.asyncDispose]()
    await open(tool, { config: { enableRunInBackground: false } })
    expect(told(await app.run('true', { run_in_background: true }))).toBe(
      'TOOL_ARGUMENTS: run_in_background is disabled for this deployment (enableRunInBackground: false)',
    )
    expect(told(await app.run('true', { run_in_background: false }))).toBe('no error')
  })

  it('TB-27 the command reaches the shell unchanged; backticks in a description run nowhere', async () => {
    await open(tool)
    const marker = join(tmpdir(), `tenon-ran-${process.pid}`)
    const result = await app.run(`printf '%s' 'a  "b" \\$c'`, { description: `\`touch ${marker}\` $(touch ${marker})` })
    if (tool === 'bash') {
      expect(shown(result)).toBe('a  "b" \\$c')
      expect(shown(await app.run(`test -e ${marker} && echo there`))).toBe('(no output)\n[exit code: 1]')
    } else expect(shell.specs[0]?.command).toBe(`printf '%s' 'a  "b" \\$c'`)
  })
})

describe('abort', () => {
  it('TB-15 without a registry: the command is stopped, and its last words are kept for hosts', async () => {
    const talking = new ScriptedShell((run) => {
      run.stdout.write(`${'é'.repeat(6_000)}end\n`)
    })
    app = await compose({ tool: 'pwsh', shell: talking })
    const controller = new AbortController()
    const call = app.run('x', {}, { signal: controller.signal })
    while (talking.executions.length === 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    const result = await call
    expect(shown(result)).toBe('Error: tool call aborted')
    const details = { output: `${'é'.repeat(4_094)}end\n`, status: 'killed', exitCode: null, signal: 'SIGTERM', stdoutSpillPath: '/spill/out' }
    expect(result).toMatchObject({ code: 'TOOL_ABORTED', details })
  })
})

describe('starts that fail', () => {
  it('TB-04 a missing directory is SHELL_BAD_CWD naming it, and the next call works', async () => {
    await open('bash')
    expect(told(await app.run('true', { workdir: '/no/such/place' }))).toMatch(/^SHELL_BAD_CWD: .*\/no\/such\/place/)
    expect(shown(await app.run('echo works'))).toBe('works\n')
  })

  it('TB-17 no shell: an error with its code', async () => {
    await open('bash', { executor: { executable: '/no/such/bash' } })
    expect(told(await app.run('true'))).toMatch(/^SHELL_MISSING: /)
  })

  it.each(NAMES)('TB-17 %s: whatever the executor fails with keeps its code', async (tool) => {
    const failing = new ScriptedShell((run) => run.end({ failure: new ShellError('SHELL_SPAWN', 'spawn failed: EAGAIN') }))
    app = await compose({ tool, shell: failing })
    expect(told(await app.run('true'))).toBe('SHELL_SPAWN: spawn failed: EAGAIN')
    failing.options = { failure: () => new ShellError('SANDBOX_UNAVAILABLE', 'no sandbox here') }
    expect(told(await app.run('true'))).toBe('SANDBOX_UNAVAILABLE: no sandbox here')
  })
})
