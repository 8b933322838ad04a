import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bench } from './bash-bench.ts'
import { withHostEnv } from './host-env.ts'

describe('what a bash command starts from', () => {
  it('SH-25 B097 no startup file runs, whatever HOME, SSH_CLIENT, SHLVL, BASH_ENV and stdin are', async () => {
    const home = await mkdtemp(join(tmpdir(), 'tenon-home-'))
    const rc = 'echo RC-RAN; alias echo="printf aliased"; f() { :; }\n'
    for (const name of ['.bashrc', '.bash_profile', '.profile', '.bash_login', '.bash_logout', 'env.sh']) await writeFile(join(home, name), rc)
    const env = {
      HOME: home,
      SSH_CLIENT: '192.0.2.1 1 2',
      SSH2_CLIENT: '192.0.2.1 1 2',
      SHLVL: undefined,
      BASH_ENV: join(home, 'env.sh'),
      ENV: join(home, 'env.sh'),
    }
    await withHostEnv({ ...env, 'BASH_FUNC_planted%%': '() { echo PLANTED; }' }, () =>
      bench({}, async ({ run }) => {
        for (const stdin of [undefined, 'data\n']) {
          for (const SHLVL of [undefined, '0', '1']) {
            const result = await run('declare -F; type -t planted; echo end', { env: { SHLVL }, ...(stdin !== undefined && { stdin }) })
            expect(result).toMatchObject({ exitCode: 0, stdout: { text: 'end\n' }, stderr: { text: '' } })
          }
        }
      }),
    )
    await rm(home, { recursive: true })
  })

  it('SH-25 an empty or missing HOME changes nothing', async () => {
    for (const HOME of ['', undefined, '/no/such/home']) {
      await withHostEnv({ HOME }, () =>
        bench({}, async ({ run }) => expect(await run('echo ok')).toMatchObject({ stdout: { text: 'ok\n' }, stderr: { text: '' } })),
      )
    }
  })

  it('SH-25 shell options of the host are not inherited', () =>
    withHostEnv({ SHELLOPTS: 'errexit:nounset:xtrace', BASHOPTS: 'extglob', PS4: '$(echo PS4-RAN >&2)' }, () =>
      bench({}, async ({ run }) => {
        const result = await run('false; echo "$nope" $-')
        expect(result).toMatchObject({ exitCode: 0, stderr: { text: '' } })
        expect(result.stdout.text).not.toMatch(/[eux]/)
      }),
    ))

  it('SH-25 nor is what a shell takes options from, unless the request sets it', () =>
    withHostEnv({ POSIXLY_CORRECT: '1', BASH_COMPAT: '31', FUNCNEST: '1', CDPATH: '/usr', GLOBIGNORE: '*', TMOUT: '1', BASH_XTRACEFD: '1' }, () =>
      bench({}, async ({ run }) => {
        const text =
          'set -o | grep -c "posix.*on"; . /no/such/file; f() { g; }; g() { echo "$BASH_COMPAT$TMOUT$BASH_XTRACEFD"; }; f; cd lib; cd /; echo e*c'
        expect((await run(text, { workdir: '/tmp' })).stdout.text).toBe('0\n\netc\n')
        expect((await run('set -o | grep -c "posix.*on"', { env: { POSIXLY_CORRECT: '1' } })).stdout.text).toBe('1\n')
      }),
    ))

  it('SH-30 B037 B038 B080 TERM is dumb, there is no terminal, and no shell option is set', () =>
    bench({}, async ({ run }) => {
      expect((await run('echo "$TERM"; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; seq 100000 | head -1')).stdout.text).toBe('dumb\nnone\n1\n')
      expect((await run('seq 100000 | head -1')).exitCode).toBe(0)
      expect((await run('grep zzz /etc/hosts | wc -l')).exitCode).toBe(0)
      expect((await run('(echo FAIL; exit 3) 2>&1 | tail -1')).exitCode).toBe(0)
    }))

  it('SH-29 a prompt on the terminal fails at once', () =>
    bench({ timeoutMs: 10_000 }, async ({ run }) => {
      const result = await run('read -r x </dev/tty; echo rc=$?')
      expect(result).toMatchObject({ timedOut: false, stdout: { text: 'rc=1\n' }, stderr: { text: expect.stringContaining('/dev/tty') } })
    }))

  it('SH-29 B073 standard input ends at once for what waits for it', () =>
    bench({}, async ({ run }) => {
      expect((await run('timeout 3 cat; echo rc=$?')).stdout.text).toBe('rc=0\n')
    }))

  it('SH-31 a PATH of a request is the PATH of the command and chooses no shell', () =>
    bench({}, async ({ run, directory }) => {
      await writeFile(join(directory, 'bash'), '#!/bin/sh\necho WRONG SHELL\n', { mode: 0o755 })
      const result = await run('echo "$PATH"; echo "$BASH_VERSION"', { env: { PATH: directory } })
      expect(result.stdout.text).toMatch(new RegExp(`^${directory}\n\\d`))
    }))

  it('SH-32 B157 a command sees the managed variables it is given and no others', () =>
    withHostEnv({ TENON_STALE: 'x', TENON_HOME: '/outer', tenon_stale: 'x' }, () =>
      bench({}, async ({ run }) => {
        const result = await run('env | grep -i ^tenon_ | grep -v ^TENON_PROCESS= | sort', { managedEnv: { TENON_SHELL: '1' } })
        expect(result.stdout.text).toBe('TENON_SHELL=1\n')
      }),
    ))

  it('SH-14 a closed directory is SHELL_BAD_CWD with EACCES', async () => {
    // Root may enter any directory, so the host becomes somebody else for the look.
    const directory = await mkdtemp(join(tmpdir(), 'tenon-closed-'))
    await bench({}, async ({ run }) => {
      await run(`chmod 700 .`, { workdir: directory })
      const { seteuid, geteuid } = process
      const root = geteuid?.() === 0
      if (root) seteuid?.(65_534)
      else await run('chmod 000 .', { workdir: directory })
      try {
        await expect(run('echo ran', { workdir: directory })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD', cause: { code: 'EACCES' } })
      } finally {
        if (root) seteuid?.(0)
        else await run(`chmod 700 ${directory}`)
      }
      expect((await run('pwd', { workdir: directory })).stdout.text).toBe(`${directory}\n`)
    })
    await rm(directory, { recursive: true })
  })

  it("SH-14 B085 the host's own directory may be deleted", async () => {
    const gone = await mkdtemp(join(tmpdir(), 'tenon-gone-'))
    const before = process.cwd()
    process.chdir(gone)
    await rm(gone, { recursive: true })
    try {
      await withHostEnv({ PWD: gone }, () =>
        bench({}, async ({ run }) => {
          await expect(run('echo ran')).rejects.toMatchObject({
            code: 'SHELL_BAD_CWD',
            message: expect.stringContaining(gone),
            cause: { code: 'ENOENT' },
          })
          expect((await run('pwd', { workdir: '/tmp' })).stdout.text).toBe('/tmp\n')
        }),
      )
    } finally {
      process.chdir(before)
    }
  })
})
