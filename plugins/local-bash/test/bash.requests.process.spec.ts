import { existsSync, readdirSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bench } from './bash-bench.ts'
import { ownTemporaryDirectory } from './own-temporary-directory.ts'

const numbers = (upTo: number): string => Array.from({ length: upTo }, (_, n) => `${n + 1}\n`).join('')

describe('what a request may ask for', () => {
  it('SH-05 B061 a larger stdoutMaxBytes is for stdout alone, in results, reads and observers, under both policies', () =>
    bench({ maxOutputBytes: 1_000, maxSpillBytes: 200_000 }, async ({ start, shell }) => {
      for (const onExpiry of ['kill', 'none'] as const) {
        for (const stdoutMaxBytes of [500, 20_000, 200_000]) {
          const execution = await start('seq 1 4000; seq 1 4000 >&2', { stdoutMaxBytes, onExpiry })
          const { stdout, stderr } = await execution.result()
          const whole = numbers(4_000)
          expect(stdout).toMatchObject({ bytes: whole.length, truncated: stdoutMaxBytes < whole.length, text: whole.slice(-stdoutMaxBytes) })
          expect(stderr).toMatchObject({ bytes: whole.length, truncated: true, text: whole.slice(-1_000) })
          expect(stdout.spillPath === undefined).toBe(stdoutMaxBytes > whole.length)
          expect(stderr.spillPath).toEqual(expect.any(String))
          const { delta } = execution.readOutput()
          expect(delta).toBe(`${whole.slice(-stdoutMaxBytes)}[stderr]\n${whole.slice(-1_000)}`)
        }
      }
      for (const stdoutMaxBytes of [200_001, 9e9]) {
        expect(() => shell.resolve({ command: 'seq 1 99999', stdoutMaxBytes })).toThrow(expect.objectContaining({ code: 'SHELL_BAD_REQUEST' }))
      }
    }))

  it('SH-28 a text or a value that no process can be given starts none, and leaves no file', async () => {
    const temporary = ownTemporaryDirectory()
    await bench({}, async ({ run, directory }) => {
      const touch = `touch ${join(directory, 'ran')}`
      for (const command of [`${touch}\0`, `\0${touch}`, `${touch} \ud800`, `${touch} \udc00x`, `${touch} #${'x'.repeat(200_000)}\0`]) {
        await expect(run(command)).rejects.toMatchObject({ code: 'SHELL_BAD_COMMAND', details: { field: 'command' } })
      }
      for (const request of [{ workdir: '/tmp\0' }, { env: { A: 'a\0b' } }, { env: { 'A\0': 'a' } }, { managedEnv: { TENON_A: '\0' } }]) {
        await expect(run(touch, request)).rejects.toMatchObject({ code: 'SHELL_BAD_REQUEST', details: { field: Object.keys(request)[0] } })
      }
      // What runs later would find what had run before.
      await run('sleep 0.1')
      expect(existsSync(join(directory, 'ran'))).toBe(false)
      expect(readdirSync(temporary).filter((name) => name.startsWith('tenon-shell-'))).toEqual([])
      expect(await run(`${touch}; echo 🛑`)).toMatchObject({ stdout: { text: '🛑\n' } })
    })
  })
})

describe('a working directory that changes', () => {
  it('SH-14 B085 deleted: the next command says so and names it, another directory works, and so does it when it is there again', () =>
    bench({}, async ({ run, directory }) => {
      const workdir = join(directory, 'w')
      await mkdir(workdir)
      expect((await run(`rm -rf ${workdir}`, { workdir })).exitCode).toBe(0)
      for (let count = 0; count < 2; count++) {
        await expect(run('echo hi', { workdir })).rejects.toMatchObject({
          code: 'SHELL_BAD_CWD',
          message: `working directory ${workdir} does not exist; create it, or run the command in another`,
        })
        await expect(run('cd /tmp', { workdir })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD' })
      }
      expect((await run('pwd', { workdir: '/tmp' })).stdout.text).toBe('/tmp\n')
      await mkdir(workdir)
      expect((await run('pwd', { workdir })).stdout.text).toBe(`${workdir}\n`)
    }))

  it('SH-14 B086 moved, replaced by a file, by a link, by a link to nowhere: distinct and true, never from memory', () =>
    bench({}, async ({ run, directory }) => {
      const [workdir, moved] = [join(directory, 'w'), join(directory, 'w2')]
      const codeOf = (): Promise<string> =>
        run('pwd -P', { workdir }).then(
          ({ stdout }) => stdout.text.trim(),
          ({ cause }) => cause.code,
        )
      await mkdir(workdir)
      expect(await codeOf()).toBe(workdir)
      await rename(workdir, moved)
      expect(await codeOf()).toBe('ENOENT')
      await writeFile(workdir, '')
      expect(await codeOf()).toBe('ENOTDIR')
      await rm(workdir)
      expect((await run('ln -s w2 w', { workdir: directory })).exitCode).toBe(0)
      expect(await codeOf()).toBe(moved)
      await rm(moved, { recursive: true })
      expect(await codeOf()).toBe('ENOENT')
      await rm(workdir)
      expect((await run('ln -s w w', { workdir: directory })).exitCode).toBe(0)
      expect(await codeOf()).toBe('ELOOP')
    }))

  it('SH-14 B085 deleted while a command runs in it: that one goes on', () =>
    bench({}, async ({ run, directory }) => {
      const workdir = join(directory, 'w')
      await mkdir(workdir)
      const result = await run('rm -rf "$PWD"; echo still here; pwd', { workdir })
      expect(result).toMatchObject({ exitCode: 0, stdout: { text: `still here\n${workdir}\n` } })
    }))
})
