import { describe, expect, it } from 'vitest'
import { SubprocessError } from '../errors.ts'
import type { SpawnSpec } from '../spawn-spec.ts'
import { bench, collected, type Open, readAll } from './under-test.ts'

export function describeStarting(open: Open): void {
  describe('starting', () => {
    it.each([
      ['graceMs', { graceMs: 0 }],
      ['graceMs', { graceMs: 2_147_483_648 }],
      ['stdout.maxBytes', { stdout: { maxBytes: 3 } }],
      ['stderr.spill.maxBytes', { stderr: { maxBytes: 8, spill: { maxBytes: 7 } } }],
    ])('SP-01 a number out of range throws SPEC_INVALID naming %s, and nothing starts', async (field, change) => {
      const { spec, subprocess } = await bench(open)
      const bad = spec(['true'], change as Partial<SpawnSpec>)
      expect(() => subprocess.spawn(bad)).toThrow(expect.objectContaining({ code: 'SPEC_INVALID', details: { field } }))
    })

    it.each([
      ['argv', { argv: [] }],
      ['argv[0]', { argv: [''] }],
      ['argv[0]', { argv: ['./x'] }],
      ['argv[0]', { argv: ['a/b'] }],
      ['cwd', { cwd: 'tmp' }],
      ['shell', { shell: true }],
      ['env', { env: { TENON_PROCESS: 'x' } }],
      ['env', { env: { TENON_PROCESS: undefined } }],
    ])('SP-02 a malformed spec throws SPEC_INVALID naming %s: %j', async (field, change) => {
      const { spec, subprocess } = await bench(open)
      const bad = { ...spec(['true']), ...change } as unknown as SpawnSpec
      expect(() => subprocess.spawn(bad)).toThrow(expect.objectContaining({ code: 'SPEC_INVALID', details: { field } }))
    })

    it('SP-03 arguments arrive byte for byte, unexpanded', async () => {
      const { spawn } = await bench(open)
      const args = ['$HOME', '*', '~', `'"\``, 'two words', 'line\nbreak', '', '\\', '!x', 'é≤😀', '\t\r']
      const handle = spawn(['sh', '-c', 'for a; do printf "[%s]" "$a"; done', 'sh', ...args])
      await handle.done
      expect(readAll(collected(handle))).toBe(args.map((arg) => `[${arg}]`).join(''))
    })

    it('SP-03 argv0 is the name the program sees', async () => {
      const { spawn, subprocess } = await bench(open)
      const path = await subprocess.resolveExecutable('sh')
      const handle = spawn([path, '-c', 'echo "$0"'], { argv0: 'another-name' })
      await handle.done
      expect(readAll(collected(handle))).toBe('another-name\n')
    })

    it.each([
      ['a program that is not there', { argv: ['no-such-program-anywhere'] }],
      ['an absolute path where nothing is', { argv: ['/no/such/program'] }],
      ['a directory', { argv: ['/'] }],
      ['a file that is not executable', { argv: ['/etc/passwd'] }],
      ['a working directory that is not there', { cwd: '/no/such/directory' }],
      ['a file as working directory', { cwd: '/etc/passwd' }],
      ['a NUL byte in an argument', { argv: ['echo', 'a\0b'] }],
      ['a NUL byte in the working directory', { cwd: '/\0' }],
      ['a NUL byte in a variable', { env: { A: 'x\0y' } }],
      ['an argument that is too long', { argv: ['echo', 'x'.repeat(200_000)] }],
    ])('SP-04 %s settles the handle: no pid, SPAWN_FAILED with the cause, empty readers, nothing to wait for', async (_what, change) => {
      const { spawn, spec } = await bench(open)
      const { argv, ...rest } = { ...spec(['true']), ...(change as Partial<SpawnSpec>) }
      const handle = spawn(argv, { ...rest, stdin: { data: 'unread' } })
      expect(handle.pid).toBeUndefined()
      const error: unknown = await handle.done.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(SubprocessError)
      expect(error).toMatchObject({ code: 'SPAWN_FAILED', cause: { code: expect.any(String) } })
      expect(await handle.waitForExit()).toBe(true)
      expect(await handle.survivors()).toBe(0)
      for (const stream of ['stdout', 'stderr'] as const) {
        const reader = collected(handle, stream)
        expect(reader).toMatchObject({ finished: true, spillPath: undefined })
        expect(reader.readFrom(0)).toEqual({ text: '', startOffset: 0, nextOffset: 0, lossy: false })
        expect(await reader.changed(0, AbortSignal.timeout(5_000))).toBe(false)
      }
      handle.terminate()
    })

    it('SP-05 200 missing programs at once give 200 contained failures, and nobody has to look at them', async () => {
      const { spawn } = await bench(open)
      const unlooked = Array.from({ length: 100 }, () => spawn(['no-such-program-anywhere']))
      const looked = await Promise.allSettled(Array.from({ length: 100 }, () => spawn(['no-such-program-anywhere']).done))
      expect(unlooked.map((handle) => handle.pid)).toEqual(Array.from({ length: 100 }, () => undefined))
      for (const each of looked) expect(each).toMatchObject({ status: 'rejected', reason: { code: 'SPAWN_FAILED' } })
    })

    it('SP-06 a signal that had aborted before starts nothing; the cause is its reason', async () => {
      const { sh, directory } = await bench(open)
      const reason = new Error('enough')
      const handle = sh(`: > ${directory}/started`, { signal: AbortSignal.abort(reason) })
      expect(handle.pid).toBeUndefined()
      const error = await handle.done.catch((each: unknown) => each)
      expect(error).toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
      expect((error as Error).cause).toBe(reason)
      expect(await handle.waitForExit()).toBe(true)
      const look = sh('ls')
      await look.done
      expect(readAll(collected(look))).toBe('')
    })

    it('SP-06 an abort after the start ends the tree', async () => {
      const { sh } = await bench(open)
      const controller = new AbortController()
      const handle = sh('sleep 60 & sleep 60', { signal: controller.signal })
      expect(await handle.started).toBe(true)
      controller.abort()
      expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
      expect(await handle.waitForExit()).toBe(true)
    })

    it('SP-07 a spawn after the close gives a handle with RUNTIME_CLOSED', async () => {
      const { spawn, close } = await bench(open)
      await close()
      const handle = spawn(['true'])
      expect(handle.pid).toBeUndefined()
      await expect(handle.done).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' })
      expect(await handle.waitForExit()).toBe(true)
    })

    it('SP-08 the child runs in cwd, leads its own session and group, and has no terminal', async () => {
      const { sh, directory } = await bench(open)
      const handle = sh('pwd -P; echo $$; ps -o pgid= -o sid= -p $$; (: < /dev/tty) 2>/dev/null || echo no terminal')
      await handle.done
      const [cwd, pid, numbers, terminal] = readAll(collected(handle)).split('\n')
      expect(cwd?.endsWith(directory.split('/').at(-1) ?? '?')).toBe(true)
      expect(Number(pid)).toBe(handle.pid)
      expect(numbers?.trim().split(/\s+/)).toEqual([pid, pid])
      expect(terminal).toBe('no terminal')
    })

    it('SP-08 kill 0 inside the command ends only the command', async () => {
      const { sh } = await bench(open)
      const other = sh('sleep 60')
      const handle = sh('kill 0; sleep 60')
      expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
      expect(await other.waitForExit(AbortSignal.timeout(50))).toBe(false)
    })
  })
}
