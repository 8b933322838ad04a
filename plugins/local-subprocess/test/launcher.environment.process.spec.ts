import { readFileSync } from 'node:fs'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { describe, expect, it } from 'vitest'
import { openLaunched, textOf } from './open-launched.ts'
import { openProvider, sh, spec } from './open-provider.ts'

/** Everything a byte can be in an argument or a value: all but NUL. Invalid UTF-8 cannot be said in a JavaScript string. */
const ODD = [
  '',
  ' ',
  '"',
  "'",
  '\\',
  '$HOME',
  '`id`',
  '*',
  '~',
  '-n',
  '--',
  '\n',
  '\r\n',
  '\t\v\f\b\u001b[0m',
  Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join(''),
  '\u007f\u0080\u00a0\u00ff',
  'é≤漢字😀',
  '\u2028\u2029\ufeff\uffff',
  '\ud800',
  '{"type":"bye"}',
  '__proto__',
]

/** What programs get of a string: UTF-8, with U+FFFD for half a surrogate pair. */
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

describe('arguments and environment', () => {
  it('LN-08 SP-03 every argument arrives byte for byte', async () => {
    const { subprocess } = await openLaunched()
    const argv = ['sh', '-c', 'cat /proc/$$/cmdline', ...ODD] as const
    const handle = subprocess.spawn(spec([...argv], { argv0: 'läuft \n"so"' }))
    await handle.done
    expect(textOf(handle).split('\0').slice(0, -1).map(bytes)).toEqual(['läuft \n"so"', ...argv.slice(1)].map(bytes))
  })

  it('LN-08 SP-14 every value arrives byte for byte, in its order, and nothing else does', async () => {
    const env = Object.fromEntries(ODD.map((value, index) => [`V${index}`, value]))
    const odd = { 'with.dot': '1', 'with space': '2', ümlaut: '3', __proto__: undefined, constructor: '4', '': '5' }
    const { subprocess, runtime } = await openLaunched({ world: { environment: { PATH: process.env.PATH, NODE_OPTIONS: '--no-warnings' } } })
    const handle = subprocess.spawn(spec(['cat', '/proc/self/environ'], { env: { ...env, ...odd } }))
    await handle.done
    const entries = textOf(handle).split('\0').slice(0, -1)
    expect(entries.map(bytes)).toEqual(
      [
        `${COOKIE_VARIABLE}=${runtime.nonce}.0`,
        `PATH=${process.env.PATH}`,
        'NODE_OPTIONS=--no-warnings',
        ...ODD.map((value, index) => `V${index}=${value}`),
        'with.dot=1',
        'with space=2',
        'ümlaut=3',
        'constructor=4',
        '=5',
      ].map(bytes),
    )
  })

  it('LN-08 an environment of nothing but the cookie is that', async () => {
    const { subprocess, runtime } = await openLaunched({ world: { environment: {} } })
    const handle = subprocess.spawn(spec(['/bin/cat', '/proc/self/environ']))
    await handle.done
    expect(textOf(handle)).toBe(`${COOKIE_VARIABLE}=${runtime.nonce}.0\0`)
  })

  it('LN-08 SP-20 a mebibyte of environment and arguments arrives', async () => {
    const { subprocess } = await openLaunched()
    const value = '\u0001"'.repeat(50_000)
    const env = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`LONG${index}`, value]))
    const handle = subprocess.spawn(spec(['sh', '-c', 'printf %s "$LONG5$4" | wc -c', 'sh', value, value, value, value], { env }))
    await handle.done
    expect(textOf(handle)).toBe('200000\n')
  })

  it.each([
    ['more than the system takes', 8],
    ['more than a frame holds', 70],
  ])('LN-08 SP-04 %s fails as the system has it, and the launcher goes on', async (_, mebibytes) => {
    const opened = await openLaunched()
    const large = Array.from({ length: mebibytes * 16 }, () => 'x'.repeat(65_536))
    const handle = opened.subprocess.spawn(spec(['true', ...large]))
    await expect(handle.done).rejects.toMatchObject({
      code: 'SPAWN_FAILED',
      cause: { code: 'E2BIG', errno: -7, message: 'spawn E2BIG', syscall: 'spawn' },
    })
    expect(await handle.started).toBe(false)
    expect(await opened.subprocess.spawn(spec(['true'])).done).toEqual({ exitCode: 0, signal: null })
    expect(opened.runtime.launcher.pid).toBe(opened.launcher)
  })

  it('LN-08 SP-04 a start that fails is told as the host would tell it', async () => {
    const failures = [
      spec(['no-such-program-anywhere', 'a', 'b']),
      spec(['/etc/passwd']),
      spec(['/tmp']),
      spec(['true'], { cwd: '/no/such/place' }),
      spec(['true'], { cwd: '/etc/passwd' }),
      spec(['true', 'a\0b']),
      spec(['true'], { env: { A: 'a\0b' } }),
    ]
    const causes = async (settings: { launcher: 'process' | 'host' }) => {
      const { subprocess } = await openProvider({ settings })
      const errors = await Promise.all(failures.map((failing) => subprocess.spawn(failing).done.catch((error: unknown) => error as Error)))
      return errors.map((error) => {
        const cause = (error as Error).cause as Error
        return { said: (error as Error).message, cause: [cause.name, cause.message], facts: { ...cause } }
      })
    }
    expect(await causes({ launcher: 'process' })).toEqual(await causes({ launcher: 'host' }))
  })
})

describe('what can be seen of the launcher', () => {
  it('LN-08 its command line, its environment and its title hold no secret: neither token nor nonce, nor anything of the host', async () => {
    const token = `a token of the test ${process.pid}`
    const opened = await openLaunched({ world: { randomName: () => token } })
    const read = (what: string): string => readFileSync(`/proc/${opened.launcher}/${what}`, 'latin1')
    await opened.subprocess.spawn(sh('true', { env: { SECRET_OF_A_COMMAND: 'hunter2' } })).done
    const outer = process.env[COOKIE_VARIABLE]
    expect(read('environ')).toBe(`UV_THREADPOOL_SIZE=1\0${outer === undefined ? '' : `${COOKIE_VARIABLE}=${outer}\0`}`)
    expect(read('cmdline').split('\0')).toEqual([
      process.execPath,
      ...Array(5).fill(expect.stringMatching(/^--[\w-]+(=\d+)?$/)),
      expect.stringMatching(/launcher\/main\.js$/),
      '',
    ])
    expect(read('cmdline') + read('comm') + JSON.stringify(opened.said)).not.toMatch(/a token of the test|hunter2/)
  })

  it('LN-08 it leads a session of its own in the private directory, and has only the null device to write to', async () => {
    const { launcher, runtime, subprocess } = await openLaunched()
    const handle = subprocess.spawn(
      sh(`readlink /proc/${launcher}/cwd /proc/${launcher}/fd/1 /proc/${launcher}/fd/2; cut -d' ' -f5,6 /proc/${launcher}/stat`),
    )
    await handle.done
    expect(textOf(handle).split('\n')).toEqual([runtime.directory.path(), '/dev/null', '/dev/null', `${launcher} ${launcher}`, ''])
  })

  it('LN-08 a command gets no descriptor of it', async () => {
    const { subprocess } = await openLaunched()
    const handle = subprocess.spawn(sh('exec ls /proc/self/fd'))
    await handle.done
    // `ls` has one for what it lists.
    expect(textOf(handle)).toBe('0\n1\n2\n3\n')
  })

  it('LN-08 a runtime inside of another: its launcher is marked as the outer one marks it, its commands as its own', async () => {
    const before = process.env[COOKIE_VARIABLE]
    process.env[COOKIE_VARIABLE] = 'outer.7'
    try {
      const opened = await openLaunched()
      expect(readFileSync(`/proc/${opened.launcher}/environ`, 'latin1')).toBe(`UV_THREADPOOL_SIZE=1\0${COOKIE_VARIABLE}=outer.7\0`)
      const handle = opened.subprocess.spawn(sh(`echo $${COOKIE_VARIABLE}`))
      await handle.done
      expect(textOf(handle)).toBe(`${opened.runtime.nonce}.0\n`)
    } finally {
      if (before === undefined) delete process.env[COOKIE_VARIABLE]
      else process.env[COOKIE_VARIABLE] = before
    }
  })

  it('LN-08 the host takes along nothing that it has for its own children', async () => {
    process.env.NODE_V8_COVERAGE = '/nowhere'
    try {
      const { launcher } = await openLaunched()
      expect(readFileSync(`/proc/${launcher}/environ`, 'latin1')).not.toContain('NODE')
    } finally {
      delete process.env.NODE_V8_COVERAGE
    }
  })
})

it.runIf(process.geteuid?.() === 0)('LN-08 a host that has laid down its rights gives none of them to a command', async () => {
  const opened = await openLaunched()
  const user = async (): Promise<string> => {
    // No shell for the first: most of them lay down rights that are not those of the real user.
    const [id, parent] = [opened.subprocess.spawn(spec(['id', '-u'])), opened.subprocess.spawn(sh('echo $PPID'))]
    await Promise.all([id.done, parent.done])
    return textOf(id) + textOf(parent)
  }
  expect(await user()).toBe(`0\n${opened.launcher}\n`)
  process.seteuid?.(65_534)
  try {
    expect(await user()).toBe(`65534\n${process.pid}\n`)
  } finally {
    process.seteuid?.(0)
  }
})
