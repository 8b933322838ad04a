import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HostLauncher, type SpawnFunction } from '../src/launch/host-launcher.ts'
import { openProvider, sh, spec } from './open-provider.ts'

function failing(code: string): { cause: Error; spawnFunction: SpawnFunction } {
  const cause = Object.assign(new Error(`spawn ${code}`), { code })
  return {
    cause,
    spawnFunction() {
      throw cause
    },
  }
}

describe('starting', () => {
  it.each(['EMFILE', 'EAGAIN', 'E2BIG', 'EACCES', 'ENOMEM'])('SP-04 a synchronous %s is the very cause of SPAWN_FAILED', async (code) => {
    const { cause, spawnFunction } = failing(code)
    const { subprocess, runtime } = await openProvider({ world: { hostLauncher: new HostLauncher(spawnFunction, process.platform) } })
    const handle = subprocess.spawn(sh('true', { stdin: { data: 'x' } }))
    expect(handle.pid).toBeUndefined()
    const error: unknown = await handle.done.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'SPAWN_FAILED' })
    expect((error as Error).cause).toBe(cause)
    expect([runtime.live.size, runtime.open.size]).toEqual([0, 0])
  })

  it('SP-04 an error event without a pid is the very cause too', async () => {
    const causes: unknown[] = []
    const launcher = new HostLauncher((command, args, options) => {
      const child = spawn(command, args, options)
      child.once('error', (error) => causes.push(error))
      return child
    }, process.platform)
    const { subprocess } = await openProvider({ world: { hostLauncher: launcher } })
    const error: unknown = await subprocess.spawn(spec(['no-such-program-anywhere'])).done.catch((reason: unknown) => reason)
    expect(causes).toHaveLength(1)
    expect((error as Error).cause).toBe(causes[0])
  })

  it('SP-04 the message says what is wrong: the working directory, not the program', async () => {
    const { subprocess, directory } = await openProvider()
    const file = join(directory, 'file')
    writeFileSync(file, '')
    await expect(subprocess.spawn(spec(['true'], { cwd: '/no/such/place' })).done).rejects.toThrow(
      'its working directory /no/such/place cannot be used (ENOENT)',
    )
    await expect(subprocess.spawn(spec(['true'], { cwd: file })).done).rejects.toThrow(`its working directory ${file} is not a directory`)
    await expect(subprocess.spawn(spec(['no-such-program-anywhere'])).done).rejects.toThrow('is the program installed')
  })

  it('SP-04 a start that fails leaves no descriptor and no FIFO behind', async () => {
    const { subprocess, runtime } = await openProvider()
    await subprocess.spawn(sh('true')).done
    await runtime.channels.stock.idle()
    const inStock = runtime.channels.stock.size
    for (let count = 0; count < 10; count++)
      await subprocess.spawn(spec(['no-such-program-anywhere'], { stdin: { data: 'x' } })).done.catch(() => undefined)
    await runtime.channels.stock.idle()
    expect(runtime.channels.stock.size).toBe(inStock - 20 < 32 ? inStock - 20 + 64 : inStock - 20)
    expect(runtime.open.size).toBe(0)
  })

  it('SP-07 an error event after the start is logged and changes no fact', async () => {
    let started: ChildProcess | undefined
    const launcher = new HostLauncher((command: string, args: readonly string[], options: SpawnOptions) => {
      started = spawn(command, args, options)
      return started
    }, process.platform)
    const { subprocess, said } = await openProvider({ world: { hostLauncher: launcher } })
    const handle = subprocess.spawn(sh('read go; exit 3', { stdin: 'pipe' }))
    started?.emit('error', new Error('kill failed'))
    handle.stdin?.end('\n')
    expect(await handle.done).toEqual({ exitCode: 3, signal: null })
    expect(said.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  it('SP-03 a script without a shebang line, and one in a path with spaces, behave as the platform says', async () => {
    const { subprocess, directory } = await openProvider()
    const place = join(directory, 'with space')
    mkdirSync(place)
    const script = join(place, 'a script')
    writeFileSync(script, '#!/bin/sh\nprintf "%s|" "$0" "$@"\n')
    chmodSync(script, 0o755)
    const handle = subprocess.spawn(spec([script, 'a b', '']))
    await handle.done
    expect(handle.output.stdout?.readFrom(0).text).toBe(`${script}|a b||`)
  })
})

describe('the environment of a child', () => {
  const ambient = {
    PATH: process.env.PATH,
    TERM: 'xterm',
    HOME: '/home/somebody',
    OPENAI_API_KEY: 'k1',
    DB_PASSWORD: 'k2',
    DATABASE_URL: 'postgres://u:k3@h',
    TENON_SESSION: 'old',
    tenon_session: 'old',
    BASH_ENV: '/evil',
    'BASH_FUNC_ls%%': '() { evil; }',
    'with.dot': 'kept',
    NODE_OPTIONS: '--no-warnings',
    NODE_V8_COVERAGE: undefined,
  }

  it('SP-14 SP-15 SP-17 SP-19 of the host only what is harmless arrives, and the cookie', async () => {
    const { subprocess, runtime } = await openProvider({ world: { environment: ambient } })
    const handle = subprocess.spawn(spec(['env', '-0']))
    await handle.done
    const entries = (handle.output.stdout?.readFrom(0).text ?? '').split('\0').filter((entry) => entry !== '')
    expect(Object.fromEntries(entries.map((entry) => entry.split('=', 2)))).toEqual({
      TENON_PROCESS: `${runtime.nonce}.0`,
      PATH: process.env.PATH,
      TERM: 'xterm',
      HOME: '/home/somebody',
      'with.dot': 'kept',
      NODE_OPTIONS: '--no-warnings',
    })
  })

  it('SP-18 the names that were removed, and no values, are in one debug record', async () => {
    const { said } = await openProvider({ world: { environment: ambient } })
    expect(said).toEqual([
      {
        level: 'debug',
        facts: { removed: ['OPENAI_API_KEY', 'DB_PASSWORD', 'DATABASE_URL', 'TENON_SESSION', 'tenon_session', 'BASH_ENV', 'BASH_FUNC_ls%%'] },
        message: expect.any(String),
      },
    ])
    expect(JSON.stringify(said)).not.toMatch(/k1|k2|k3|evil/)
  })

  it('SP-20 empty values, names with dots and 100 kB of value pass; 200 kB of value fail as a start', async () => {
    const { subprocess } = await openProvider()
    // Not by way of sh, which drops what is no name to it.
    const good = subprocess.spawn(
      spec(['env', '-0'], { env: { 'a.b': '', '': 'nameless', LONG: 'v'.repeat(100_000) }, stdout: { maxBytes: 200_000 } }),
    )
    await good.done
    const entries = good.output.stdout?.readFrom(0).text.split('\0') ?? []
    expect(entries).toEqual(expect.arrayContaining(['a.b=', '=nameless', `LONG=${'v'.repeat(100_000)}`]))
    await expect(subprocess.spawn(sh('true', { env: { LONG: 'v'.repeat(200_000) } })).done).rejects.toMatchObject({
      code: 'SPAWN_FAILED',
      cause: { code: 'E2BIG' },
    })
  })

  it('the environment of the host itself is never changed', async () => {
    const before = { ...process.env }
    const { subprocess } = await openProvider()
    await subprocess.spawn(sh('true', { env: { A: '1', HOME: undefined } })).done
    expect(process.env).toEqual(before)
  })

  it('coverage of the host is not copied into children', async () => {
    const { subprocess } = await openProvider({ world: { environment: { PATH: process.env.PATH } } })
    process.env.NODE_V8_COVERAGE = '/nowhere'
    try {
      const handle = subprocess.spawn(sh('echo "[$NODE_V8_COVERAGE]"'))
      await handle.done
      expect(handle.output.stdout?.readFrom(0).text).toBe('[]\n')
    } finally {
      delete process.env.NODE_V8_COVERAGE
    }
  })
})
