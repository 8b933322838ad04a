import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import toolsRegistry from '@tenon/plugin-tools'
import { openSession } from '@tenon/session'
import { Shell } from '@tenon/shell'
import { type Harness, harness, providing, row, ScriptedShell } from '@tenon/testkit'
import { Tools } from '@tenon/tools'
import { describe, expect, it } from 'vitest'
import provider, { GuardedShell } from '../src/index.ts'
import tool from '../src/tool.ts'

const rules = { refuse: [{ pattern: '\\bsudo\\b', why: 'there are no privileges to be had' }] }
const { signal } = new AbortController()

describe('guarded-shell', () => {
  it('runs what no rule refuses, with its deadline; what one refuses never reaches the shell', async () => {
    const shell = new ScriptedShell()
    shell.script('make', { stdout: 'built\n', exitCode: 2 })
    await using app = await harness([providing(Shell, shell), row(provider, { ...rules, timeoutMs: 5_000 })])
    const guarded = app.get(GuardedShell)
    const { exitCode, stdout, timeoutMs } = await guarded.run({ command: 'make', workdir: '/srv', signal })
    expect([exitCode, stdout.text, timeoutMs]).toEqual([2, 'built\n', 5_000])
    const refused = guarded.run({ command: 'cd /; sudo make install', workdir: '/srv', signal })
    await expect(refused).rejects.toMatchObject({ code: 'COMMAND_REFUSED', message: expect.stringContaining('no privileges') })
    expect(shell.executions.map(({ spec }) => spec.command)).toEqual(['make'])
  })

  it('new rules count for commands that begin after them; what runs, runs on', async () => {
    const shell = new ScriptedShell()
    shell.script('sudo make', 'runs')
    await using app = await harness([providing(Shell, shell), provider])
    const running = app.get(GuardedShell).run({ command: 'sudo make', workdir: '/srv', signal })
    const execution = await shell.next()
    await app.row('guarded-shell').reconfigure(rules)
    const refused = app.get(GuardedShell).run({ command: 'sudo make', workdir: '/srv', signal })
    await expect(refused).rejects.toMatchObject({ code: 'COMMAND_REFUSED' })
    execution.exit(0)
    expect(await running).toMatchObject({ exitCode: 0 })
  })

  it('a pattern that is none is refused with its place, before anything is activated', async () => {
    const broken = harness([providing(Shell, new ScriptedShell()), row(provider, { refuse: [{ pattern: '(', why: 'x' }] })])
    await expect(broken).rejects.toThrow(/refuse.*0.*pattern.*is not a regular expression/s)
  })
})

describe('its tool', () => {
  const call = async (app: Harness, command: string) => {
    const session = openSession(app.kernel.scope, { id: 'test', cwd: await realpath(tmpdir()) })
    return await app.get(Tools).execute({ name: 'run', arguments: { command }, session, signal: session.scope.signal })
  }

  it('gives facts and their rendering, with a real shell below', async () => {
    await using app = await harness([localSubprocess, localBash, row(provider, rules), toolsRegistry, tool])
    expect(await call(app, 'pwd; exit 3')).toMatchObject({
      value: { exitCode: 3, signal: null, timedOut: false },
      content: [{ text: `${await realpath(tmpdir())}\n[exit code: 3]` }],
    })
    expect(await call(app, 'sudo true')).toMatchObject({ isError: true, code: 'COMMAND_REFUSED' })
  })

  it('is there exactly while something provides a shell', async () => {
    await using app = await harness([localSubprocess, localBash, provider, toolsRegistry, tool], {
      inactive: ['guarded-shell', 'tool-guarded-shell'],
    })
    expect(app.get(Tools).get('run')).toBeDefined()
    await app.row('local-bash').unload()
    await app.settled()
    expect(app.get(Tools).get('run')).toBeUndefined()
  })
})
