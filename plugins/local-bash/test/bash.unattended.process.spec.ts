import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { renderResult } from '@tenon/shell'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bench } from './bash-bench.ts'
import { withHostEnv } from './host-env.ts'

const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('nobody sits in front of a command', () => {
  it.each(['kill', 'none'] as const)('SH-29 B073 what reads standard input ends at once, whoever waits (%s)', (onExpiry) =>
    bench({}, async ({ run }) => {
      const result = await run('timeout 30 cat; echo rc=$?; read -r x; echo rc=$?; cat /dev/stdin; test -c /dev/stdin && echo device', { onExpiry })
      expect(result.stdout.text).toBe('rc=0\nrc=1\ndevice\n')
      expect(result.durationMs).toBeLessThan(20_000)
    }),
  )

  it.runIf(has('git'))('SH-30 B074 a log of 200 commits is shown whole, whatever pager is configured', () =>
    withHostEnv({ PAGER: 'less', GIT_PAGER: 'less', HOME: '/nowhere', LESS: undefined }, () =>
      bench({ maxOutputBytes: 200_000 }, async ({ run, directory }) => {
        const commits = Array.from({ length: 200 }, (_, n) => `commit refs/heads/main\ncommitter A <a@b> ${n} +0000\ndata <<E\nnumber ${n}\nE\n`)
        await run('git init -q -b main . && git fast-import --quiet', { workdir: directory, stdin: commits.join('\n') })
        for (const command of ['git log', 'git -c core.pager=less log', 'git -c core.pager="less -+F" log --stat', 'git show HEAD~199 && git log']) {
          const { exitCode, timedOut, stdout } = await run(command, { workdir: directory, timeoutMs: 30_000 })
          expect({ exitCode, timedOut }).toEqual({ exitCode: 0, timedOut: false })
          for (const number of [0, 100, 199]) expect(stdout.text).toContain(`number ${number}\n`)
        }
      }),
    ),
  )

  it.runIf(has('man'))('SH-30 B074 a manual is no pager that waits', () =>
    bench({ timeoutMs: 30_000 }, async ({ run }) => expect((await run('man bash; man man')).timedOut).toBe(false)),
  )

  it.runIf(has('git'))('SH-30 B077 git does not wait for a name and a password', async () => {
    const server = createServer((_request, response) => response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end()).listen(
      0,
      '127.0.0.1',
    )
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await bench({ timeoutMs: 30_000 }, async ({ run }) => {
      const asked = await run(`git ls-remote http://127.0.0.1:${port}/x.git`)
      expect(asked).toMatchObject({ timedOut: false, exitCode: 128, stderr: { text: expect.stringContaining('terminal prompts disabled') } })
      expect(await run('git ls-remote https://127.0.0.1:1/x.git')).toMatchObject({ timedOut: false, exitCode: 128 })
    })
  })

  it.runIf(has('ssh'))('SH-29 B076 ssh finds no terminal to ask on', () =>
    bench({ timeoutMs: 30_000 }, async ({ run }) => {
      const result = await run('ssh -p 1 -o BatchMode=no nobody@127.0.0.1 true; read -rs x </dev/tty; echo rc=$?')
      expect(result).toMatchObject({ timedOut: false, stdout: { text: 'rc=1\n' } })
    }),
  )

  it('SH-30 B080 what watches on a terminal, or because of CI, sees no terminal, and CI as the host has it', async () => {
    for (const CI of [undefined, 'true', 'false', '']) {
      await withHostEnv({ CI }, () =>
        bench({}, async ({ run }) => {
          // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
          const script = 'if [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then while :; do sleep 1; done; fi; echo "once <${CI-unset}>"'
          expect((await run(script, { timeoutMs: 30_000 })).stdout.text).toBe(`once <${CI ?? 'unset'}>\n`)
        }),
      )
    }
  })

  it('SH-29 B083 a command that closes its standard input, is killed while it is written to, or never starts: true facts and no fault', () =>
    bench({}, async ({ run, start }) => {
      const stdin = 'x'.repeat(8 << 20)
      expect(await run('exec 0<&-; sleep 0.3', { stdin })).toMatchObject({ exitCode: 0, stdout: { text: '' }, stderr: { text: '' } })
      expect(await run('head -c 100 > /dev/null; kill -9 $$', { stdin })).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
      const killed = await start('echo up; sleep 60', { stdin })
      await killed.observed.stdout.changed(0, AbortSignal.timeout(20_000))
      killed.kill()
      expect(await killed.result()).toMatchObject({ signal: 'SIGTERM' })
      const failed = await start('echo never', { stdin, env: { HUGE: 'x'.repeat(200_000) } })
      await expect(failed.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', cause: { code: 'E2BIG' } })
    }))

  it('SH-21 B079 a prompt that is asked for ever stays within its bounds, and its processor time ends with it', () =>
    bench({ maxOutputBytes: 1_000, maxSpillBytes: 100_000, graceMs: 500 }, async ({ start }) => {
      const execution = await start('while ! read -r x; do echo invalid input; done', { timeoutMs: 1_000 })
      const result = await execution.result()
      expect(result).toMatchObject({ timedOut: true, stdout: { truncated: true } })
      expect(renderResult(result)).toMatch(/invalid input\n\[output truncated; full output: \(unavailable\)\]\n/)
      await expect.poll(() => execution.survivors()).toBe(0)
    }))
})

describe('what a command is started with', () => {
  it('SH-30 B094 the PATH is that of the host, nobody probes for another, and a setting replaces it', () =>
    withHostEnv({ PATH: '/usr/bin:/bin' }, async () => {
      await bench({}, async ({ run }) => expect((await run('echo "$PATH"')).stdout.text).toBe('/usr/bin:/bin\n'))
      await bench({ env: { PATH: '/opt/node/bin:/usr/bin:/bin' } }, async ({ run }) => {
        expect((await run('echo "$PATH"')).stdout.text).toBe('/opt/node/bin:/usr/bin:/bin\n')
      })
    }))

  it('SH-25 B097 an environment of odd names, exported functions and long values passes or is dropped by rule, and a tombstone removes', () => {
    const odd = { 'BASH_FUNC_x%%': '() { echo x; }', 'a.b': 'dotted', 'a-b': 'dashed', EMPTY: '', LONG: 'v'.repeat(100_000) }
    return withHostEnv(odd, () =>
      bench({}, async ({ run }) => {
        const { stdout } = await run('cat /proc/self/environ', { stdoutMaxBytes: 1_000_000 })
        const names = stdout.text.split('\0').map((entry) => entry.split('=')[0])
        expect(names).toEqual(expect.arrayContaining(['EMPTY', 'LONG', 'a.b', 'a-b']))
        expect(names).not.toContain('BASH_FUNC_x%%')
        const less = await run('cat /proc/self/environ | tr "\\0" "\\n" | grep -c "^LONG=\\|^a[.]b=\\|^EMPTY="', {
          env: { LONG: undefined, 'a.b': undefined },
        })
        expect(less.stdout.text).toBe('1\n')
      }),
    )
  })

  it.runIf(has('perl'))(
    'SH-30 B098 B065 no locale is set that the host has not, no program complains of one, and text is UTF-8 all the same',
    async () => {
      for (const LC_ALL of ['C', undefined, 'C.UTF-8']) {
        await withHostEnv({ LC_ALL, LANG: undefined }, () =>
          bench({}, async ({ run }) => {
            // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
            expect(await run('perl -e1; echo "中文 é 🛑"; echo "<${LC_ALL-unset}>"')).toMatchObject({
              exitCode: 0,
              stdout: { text: `中文 é 🛑\n<${LC_ALL ?? 'unset'}>\n` },
              stderr: { text: '' },
            })
          }),
        )
      }
    },
  )
})
