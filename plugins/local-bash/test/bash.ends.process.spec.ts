import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kernel } from '@tenon/kernel'
import { renderResult, Shell } from '@tenon/shell'
import { seen } from '@tenon/shell/conformance'
import { describe, expect, it } from 'vitest'
import localSubprocess from '../../local-subprocess/test/launched.ts'
import localBash from '../src/index.ts'
import { bench } from './bash-bench.ts'

describe('how bash commands end', () => {
  it('SH-10 B040 a pkill that matches its own text is a death by signal, with no flag, and the host lives', () =>
    bench({}, async ({ start }) => {
      const execution = await start(`pkill -f zzSelfMatch${process.pid}; echo after`)
      expect(await execution.result()).toMatchObject({ signal: 'SIGTERM', exitCode: null, timedOut: false, aborted: false, stdout: { text: '' } })
      expect(execution.status).toBe('killed')
    }))

  it('SH-10 a nested shell killed by 9 gives exit 0 and its status in the text', () =>
    bench({}, async ({ run }) => {
      expect(await run(`bash -c 'kill -9 $$' 2>/dev/null; echo rc=$?`)).toMatchObject({ exitCode: 0, signal: null, stdout: { text: 'rc=137\n' } })
    }))

  it('SH-10 B017 kill 0 ends the command only', () =>
    bench({}, async ({ run }) => {
      expect(await run('kill 0; sleep 5')).toMatchObject({ signal: 'SIGTERM', timedOut: false })
    }))

  it('SH-06 B016 every member of a pipeline ends at the deadline', () =>
    bench({ graceMs: 500 }, async ({ run, start }) => {
      // Of this run alone: the same tests may run beside it.
      const mark = `zzMark${process.pid}`
      expect(await run(`yes ${mark} | grep -v ${mark} | head -1`, { timeoutMs: 700 })).toMatchObject({ timedOut: true })
      const left = await start(`pgrep -fc '${mark.replace('M', '[M]')}'`)
      expect((await left.result()).stdout.text).toBe('0\n')
    }))

  it('SH-06 B020 traps run before the forced end, and their files are there', () =>
    bench({}, async ({ run, directory }) => {
      await run(`trap 'echo bye > bye; exit' TERM; sleep 30 & wait`, { workdir: directory, timeoutMs: 600 })
      expect(await readFile(join(directory, 'bye'), 'utf8')).toBe('bye\n')
    }))

  it('SH-06 B014 a stopped command ends at the deadline', () =>
    bench({ graceMs: 500 }, async ({ run }) => {
      expect(await run('kill -STOP $$; echo never', { timeoutMs: 600 })).toMatchObject({ timedOut: true, stdout: { text: '' } })
    }))

  it('SH-06 B028 a loop that waits for itself is bounded, and its tree dies', () =>
    bench({ graceMs: 500 }, async ({ start }) => {
      const execution = await start(`until ! pgrep -f zzLoop${process.pid} >/dev/null; do sleep 0.1; done`, { timeoutMs: 1_000 })
      expect(await execution.result()).toMatchObject({ timedOut: true })
      await expect.poll(() => execution.survivors()).toBe(0)
    }))

  it('SH-06 B008 text that came before the deadline is kept although descendants hold the streams', () =>
    bench({ graceMs: 500 }, async ({ run }) => {
      const result = await run('seq 1 2000; (sleep 60 &); sleep 60', { timeoutMs: 800 })
      expect(result).toMatchObject({ timedOut: true, stdout: { truncated: false } })
      expect(result.stdout.text.endsWith('1999\n2000\n')).toBe(true)
      expect(renderResult(result)).toMatch(/2000\n\[timed out after 800ms\]\n\[killed by signal: SIGTERM\]$/)
    }))

  it('SH-18 B029 abort reaches grandchildren', () =>
    bench({ graceMs: 500 }, async ({ start }) => {
      const controller = new AbortController()
      const execution = await start(`bash -c 'sleep 600 & echo up; sleep 600'`, { signal: controller.signal })
      await seen(execution.observed.stdout, 'up')
      controller.abort()
      expect(await execution.result()).toMatchObject({ aborted: true })
      // They were asked to end together; on a busy machine one may be the later.
      await expect.poll(() => execution.survivors()).toBe(0)
    }))

  it('SH-23 B005 a server that a command leaves behind does not delay the next command', () =>
    bench({ graceMs: 300 }, async ({ start, run }) => {
      const first = await start(`node -e 'setInterval(()=>{},1e3)' & echo up`)
      expect((await first.result()).stdout.text).toBe('up\n')
      expect((await run('echo second')).stdout.text).toBe('second\n')
      expect(await first.survivors()).toBe(1)
    }))

  it('SH-21 B052 the first error is in the file when the tail is all that is kept', () =>
    bench({ maxOutputBytes: 2_000 }, async ({ run }) => {
      const { stdout } = await run('echo FIRST-ERROR; seq 1 200000')
      expect(stdout.truncated).toBe(true)
      expect((await readFile(stdout.spillPath ?? '', 'utf8')).startsWith('FIRST-ERROR\n1\n')).toBe(true)
    }))

  it('SH-21 B079 a prompt that asks for ever is bounded, in output too', () =>
    bench({ maxOutputBytes: 1_000, maxSpillBytes: 1_000_000, graceMs: 500 }, async ({ run }) => {
      const result = await run('while ! read x; do echo invalid input; done', { timeoutMs: 1_000 })
      expect(result).toMatchObject({ timedOut: true, stdout: { truncated: true } })
      expect(Buffer.byteLength(result.stdout.text)).toBeLessThanOrEqual(1_000)
    }))

  it('SH-14 200 commands for a shell that is not there are 200 contained failures', () =>
    bench({ executable: '/no/such/shell' }, async ({ start }) => {
      const codes = await Promise.all(Array.from({ length: 200 }, () => start('true').catch((error: { code: string }) => error.code)))
      expect(new Set(codes)).toEqual(new Set(['SHELL_MISSING']))
    }))

  it.each([
    [
      '/no/such/shell',
      'bash cannot be run as "/no/such/shell" (the setting "executable"): there is no program "/no/such/shell"; install it there, or give the path of one that is installed',
    ],
    [
      'no-such-shell',
      `bash cannot be run as "no-such-shell" (the setting "executable"): there is no program "no-such-shell" on the search path (${process.env.PATH}); install it, or give its absolute path`,
    ],
    [
      '/',
      'bash cannot be run as "/" (the setting "executable"): / is a directory or not executable; name a program, or make it executable (chmod +x)',
    ],
  ])('SH-14 %s as the shell: the message names the setting, and gives one advice', (executable, message) =>
    bench({ executable }, async ({ start }) => {
      await expect(start('true')).rejects.toMatchObject({ code: 'SHELL_MISSING', message })
    }),
  )

  it('SH-15 B089 an environment too large for the platform is a failed start with its own error', () =>
    bench({}, async ({ start }) => {
      const execution = await start('echo ran', { env: { HUGE: 'x'.repeat(200_000) } })
      expect(execution).toMatchObject({ status: 'killed', exitCode: null, signal: null })
      expect(execution.readOutput().delta).toMatch(/^\[stderr\]\nspawn failed: .*E2BIG/)
      await expect(execution.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', cause: { code: 'E2BIG', syscall: 'spawn' } })
    }))

  it.runIf(process.platform === 'linux')('SH-53 starts that fail leave no descriptor behind', () =>
    bench({}, async ({ start, run }) => {
      const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length
      const failing = async (): Promise<void> => {
        await start('echo ran', { env: { HUGE: 'x'.repeat(200_000) } })
        await start('echo ran', { workdir: '/no/such/directory' }).catch(() => undefined)
        await start(`echo ran #${'x'.repeat(100_000)}`, { env: { HUGE: 'x'.repeat(200_000) } })
        await run('true', { stdin: 'x' })
      }
      await failing()
      const before = await descriptors()
      for (let count = 0; count < 20; count++) await failing()
      await expect.poll(descriptors).toBeLessThanOrEqual(before)
    }),
  )

  it('SH-24 a second executor waits with CAPABILITY_TAKEN, and takes over when the first is gone', async () => {
    const kernel = new Kernel()
    kernel.load(localSubprocess, {})
    await kernel.load(localBash, {}, { id: 'first' }).ready()
    const first = kernel.get(Shell)
    const second = kernel.load(localBash, {}, { id: 'second' })
    await kernel.settled()
    expect(second.phase).toBe('waiting')
    expect(JSON.stringify(kernel.explain('second'))).toContain('CAPABILITY_TAKEN')
    await kernel.transaction((edit) => edit.unload('first'))
    await second.ready()
    expect(kernel.get(Shell)).not.toBe(first)
    await kernel[Symbol.asyncDispose]()
  })
})
