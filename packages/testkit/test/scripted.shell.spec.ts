import { definePlugin } from '@tenon/kernel'
import { Shell, ShellError } from '@tenon/shell'
import { harness, providing, ScriptedShell } from '@tenon/testkit'
import { describe, expect, it } from 'vitest'

describe('a scripted shell', () => {
  it('ends commands as they are scripted, the newest matching line first', async () => {
    const shell = new ScriptedShell()
    shell.script(/^make/, { stdout: 'built\n', exitCode: 0 })
    shell.script('make test', { stdout: 'ok\n', stderr: 'one warning', exitCode: 2 })
    const results = await Promise.all(['make', 'make test'].map(async (command) => (await shell.execute(shell.resolve({ command }))).result()))
    expect(results).toMatchObject([
      { exitCode: 0, stdout: { text: 'built\n', bytes: 6 }, stderr: { text: '' }, timedOut: false, aborted: false },
      { exitCode: 2, stdout: { text: 'ok\n' }, stderr: { text: 'one warning' } },
    ])
    expect(shell.executions.map(({ spec }) => spec.command)).toEqual(['make', 'make test'])
  })

  it('keeps a command running until the test, a kill, an abort or the deadline ends it', async () => {
    const shell = new ScriptedShell({ timeoutMs: 500 })
    shell.script(() => true, 'runs')
    const abort = new AbortController()
    const [exits, killed, aborted, expired, goesOn] = await Promise.all([
      shell.execute(shell.resolve({ command: 'a' })),
      shell.execute(shell.resolve({ command: 'b' })),
      shell.execute(shell.resolve({ command: 'c', signal: abort.signal })),
      shell.execute(shell.resolve({ command: 'd' })),
      shell.execute(shell.resolve({ command: 'e', onExpiry: 'none' })),
    ])
    exits.observed.stdout.write('half ')
    expect([exits.status, exits.readOutput()]).toEqual(['running', { delta: 'half ', lossy: false }])
    exits.end({ stdout: 'done', stderr: 'careful' })
    expect(exits.readOutput().delta).toBe('done\n[stderr]\ncareful')
    expect([killed.kill(), killed.kill()]).toEqual([true, false])
    abort.abort()
    expired.expire()
    goesOn.expire()
    expect([exits.status, killed.status, aborted.status, expired.status, goesOn.status]).toEqual([
      'completed',
      'killed',
      'killed',
      'killed',
      'running',
    ])
    expect(await aborted.result()).toMatchObject({ aborted: true, timedOut: false, signal: 'SIGTERM', exitCode: null })
    expect(await expired.result()).toMatchObject({ aborted: false, timedOut: true, timeoutMs: 500 })
    expect(await killed.result()).toMatchObject({ aborted: false, timedOut: false })
    goesOn.exit(3)
    expect(await goesOn.result()).toMatchObject({ exitCode: 3 })
  })

  it('never runs what was aborted before, and rejects as scripted or when nothing is scripted', async () => {
    const shell = new ScriptedShell()
    shell.script('late', { stdout: 'never' })
    shell.script('gone', new ShellError('SHELL_BAD_CWD', 'no such directory'))
    const late = await shell.execute(shell.resolve({ command: 'late', signal: AbortSignal.abort() }))
    expect([late.status, late.exitCode, late.signal, (await late.result()).stdout.text]).toEqual(['killed', null, null, ''])
    await expect(shell.execute(shell.resolve({ command: 'gone' }))).rejects.toMatchObject({ code: 'SHELL_BAD_CWD' })
    await expect(shell.execute(shell.resolve({ command: 'surprise' }))).rejects.toThrow('nothing is scripted for "surprise"')
    expect(() => shell.resolve({ command: 'a\0b' })).toThrow(expect.objectContaining({ code: 'SHELL_BAD_COMMAND' }))
  })

  it('hands out executions as they come, to a plugin under test', async () => {
    const shell = new ScriptedShell()
    shell.script(/./, 'runs')
    const log: string[] = []
    const runner = definePlugin({
      name: 'runner',
      inject: [Shell],
      activate(scope, injected) {
        scope.spawn(async (signal) => {
          const execution = await injected.execute(injected.resolve({ command: 'ls', signal }))
          log.push(String((await execution.result()).exitCode))
        })
      },
    })
    await using app = await harness([providing(Shell, shell), runner])
    ;(await shell.next()).exit(4)
    await expect.poll(() => log).toEqual(['4'])
    expect(app.row('runner').phase).toBe('active')
  })
})

describe('scripted output', () => {
  it('is read by byte offsets that never split a character, and holds an incomplete one back', async () => {
    const shell = new ScriptedShell()
    shell.script('x', 'runs')
    const execution = await shell.execute(shell.resolve({ command: 'x' }))
    const { stdout } = execution.observed
    const bytes = Buffer.from('aé€😀')
    stdout.write(bytes.subarray(0, 8))
    expect(stdout.readFrom(0)).toEqual({ text: 'aé€', startOffset: 0, nextOffset: 6, lossy: false })
    expect(stdout.readFrom(2)).toMatchObject({ text: '€', startOffset: 3, nextOffset: 6 })
    expect(stdout.readFrom(0, 4)).toMatchObject({ text: 'aé', nextOffset: 3 })
    const grown = stdout.changed(8, new AbortController().signal)
    stdout.write(bytes.subarray(8))
    expect([await grown, stdout.readFrom(6).text, stdout.readFrom(99).nextOffset]).toEqual([true, '😀', 99])
    execution.exit(0)
    expect(await stdout.changed(stdout.size(), new AbortController().signal)).toBe(false)
    expect(() => stdout.readFrom(-1)).toThrow(expect.objectContaining({ code: 'READ_INVALID' }))
  })
})
