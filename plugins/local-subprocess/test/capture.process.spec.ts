import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it } from 'vitest'
import { openProvider, sh, spec, spilling } from './open-provider.ts'

const MEBIBYTE = 1_048_576

function out(handle: SubprocessHandle): string {
  return handle.output.stdout?.readFrom(0).text ?? '<no reader>'
}

const isRoot = process.getuid?.() === 0

describe('the capture channel', () => {
  it.runIf(isRoot)('SP-28 a command that changes its user can still write through /dev/stdout', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh(`echo before; su nobody -s /bin/sh -c 'echo x > /dev/stdout; echo y >> /dev/stderr'; echo after`))
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    expect(out(handle)).toBe('before\nx\nafter\n')
    expect(handle.output.stderr?.readFrom(0).text).toBe('y\n')
  })

  it.runIf(isRoot)('SP-28 nobody else can read what a command writes', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh(`su nobody -s /bin/sh -c 'cat < /dev/stdout' 2>/dev/null || echo refused`))
    await handle.done
    expect(out(handle)).toBe('refused\n')
  })

  it('SP-29 1 MB in a pipe that the leader enlarged is complete', async () => {
    const { subprocess } = await openProvider()
    // F_SETPIPE_SZ is 1031 (fcntl.h).
    const program = 'fcntl(STDOUT, 1031, 1048576) or die "no large pipe: $!"; syswrite(STDOUT, "x" x 1000000) == 1000000 or die "short write"'
    for (let round = 0; round < 5; round++) {
      const handle = subprocess.spawn(spec(['perl', '-e', `system("sleep 60 >/dev/null 2>&1 &") if $ARGV[0]; ${program}`, String(round % 2)]))
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      expect(handle.output.stdout?.size()).toBe(1_000_000)
      handle.terminate()
    }
  })

  it('SP-29 what the leader left is taken also while reading is paused for a slow disk', async () => {
    const { subprocess, runtime } = await openProvider()
    const { files } = runtime.world
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow: typeof files = {
      ...files,
      async write(...args) {
        await held
        return files.write(...args)
      },
    }
    const stuck = await openProvider({ world: { files: slow } })
    // More than the 4 MiB that may wait for the disk, by less than the FIFO holds: the leader can exit.
    const handle = stuck.subprocess.spawn(
      sh('head -c 4240000 /dev/zero; printf END', { stdout: { maxBytes: 1_000, spill: { maxBytes: 64 * MEBIBYTE } }, graceMs: 60_000 }),
    )
    const done = handle.done.then(() => handle.output.stdout?.size())
    while ((handle.output.stdout?.size() ?? 0) < 4_240_003) await new Promise((resolve) => setImmediate(resolve))
    expect(handle.output.stdout?.readFrom(4_240_000).text).toBe('END')
    release()
    expect(await done).toBe(4_240_003)
    expect(statSync(handle.output.stdout?.spillPath ?? '').size).toBe(4_240_003)
    // The other provider shares nothing with it.
    expect(await subprocess.spawn(sh('true')).done).toEqual({ exitCode: 0, signal: null })
  })

  it('SP-29 a disk that hangs delays done by graceMs at most', async () => {
    const { files } = (await openProvider()).runtime.world
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const hanging: typeof files = { ...files, write: (...args) => held.then(() => files.write(...args)) }
    const { subprocess } = await openProvider({ world: { files: hanging } })
    const handle = subprocess.spawn(sh('seq 1000; exit 4', { stdout: { maxBytes: 100, spill: { maxBytes: MEBIBYTE } }, graceMs: 200 }))
    expect(await handle.done).toEqual({ exitCode: 4, signal: null })
    const whole = Array.from({ length: 1_000 }, (_, index) => `${index + 1}\n`).join('')
    const read = (): string => {
      let text = ''
      for (let offset = 0; offset < whole.length; ) {
        const part = handle.output.stdout?.readFrom(offset)
        expect(part).toMatchObject({ lossy: false })
        text += part?.text
        offset = part?.nextOffset ?? whole.length
      }
      return text
    }
    // Nothing is lost by it: memory has what the file has not.
    expect([handle.output.stdout?.spillPath, read()]).toEqual([undefined, whole])
    release()
    while (handle.output.stdout?.spillPath === undefined) await new Promise((resolve) => setImmediate(resolve))
    expect([readFileSync(handle.output.stdout.spillPath, 'utf8'), read()]).toEqual([whole, whole])
  })

  it('SP-31 a survivor that holds a read end of /dev/stdout takes nothing of the next command', async () => {
    const { subprocess } = await openProvider()
    const thieves = []
    for (let round = 0; round < 20; round++) {
      const thief = subprocess.spawn(sh('sh -c "exec cat < /dev/stdout > /dev/null" & echo mine'))
      await thief.done
      thieves.push(thief)
      const victim = subprocess.spawn(sh('seq 1 2000'))
      await victim.done
      expect(out(victim).split('\n')).toHaveLength(2_001)
    }
    for (const thief of thieves) thief.terminate()
  })

  it('SP-38 700 MB without a newline raises nothing', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh("head -c 700000000 /dev/zero | tr '\\0' x"))
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    expect(handle.output.stdout?.size()).toBe(700_000_000)
    expect(out(handle)).toBe('x'.repeat(65_536))
  })

  it('SP-12 the data for a child that reads nothing is let go when the child dies, although the handle is kept', async () => {
    const { subprocess } = await openProvider()
    const pipes = (): number => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('Pipe')).length
    const before = pipes()
    let data: Buffer | undefined = Buffer.alloc(8 * MEBIBYTE)
    const memory = new WeakRef(data.buffer)
    const handle = subprocess.spawn(sh('sleep 60', { stdin: { data } }))
    data = undefined
    expect(await handle.started).toBe(true)
    expect(pipes()).toBeGreaterThan(before)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    while (pipes() > before || memory.deref() !== undefined) {
      await new Promise((resolve) => setImmediate(resolve))
      collect()
    }
    expect([pipes(), memory.deref()]).toEqual([before, undefined])
    expect(handle.pid).toBeGreaterThan(0)
  })
})

describe('files', () => {
  it('SP-23 without spill no file is ever created; a FIFO has lost its name when spawn returns', async () => {
    const { subprocess, runtime } = await openProvider()
    const handle = subprocess.spawn(sh('seq 100000', { stdout: { maxBytes: 100 }, stdin: { data: 'x' } }))
    await runtime.channels.stock.idle()
    const names = readdirSync(runtime.directory.path())
    expect(names.filter((name) => name.endsWith('.fifo'))).toHaveLength(runtime.channels.stock.size)
    expect(names.filter((name) => !name.endsWith('.fifo'))).toEqual(['owner.json'])
    await handle.done
    expect(readdirSync(runtime.directory.path()).filter((name) => !name.endsWith('.fifo'))).toEqual(['owner.json'])
  })

  it.each(['0000', '0277', '0477', '0777'])('SP-35 a file with data for a standard input is 0600 whatever the umask (%s)', async (mask) => {
    const { subprocess } = await openProvider()
    const umask = process.umask(mask)
    try {
      const handle = subprocess.spawn(sh('stat -L -c %a /dev/stdin; cat', { stdin: { data: 'data' } }))
      await handle.done
      expect(out(handle)).toBe('600\ndata')
    } finally {
      process.umask(umask)
    }
  })

  it('SP-35 FIFOs are 0622 whatever the umask', async () => {
    const umask = process.umask(0o077)
    try {
      const { subprocess, runtime } = await openProvider()
      await subprocess.spawn(sh('true')).done
      // `mkfifo -m` makes a FIFO first and then sets its mode.
      await runtime.channels.stock.idle()
      const place = runtime.directory.path()
      const modes = readdirSync(place)
        .filter((name) => name.endsWith('.fifo'))
        .map((name) => statSync(join(place, name)).mode & 0o777)
      expect(new Set(modes)).toEqual(new Set([0o622]))
      expect(statSync(place).mode & 0o777).toBe(0o700)
    } finally {
      process.umask(umask)
    }
  })

  it('SP-36 200 overflowing spawns with release() hold no deleted file open', async () => {
    const { subprocess, runtime } = await openProvider()
    const descriptors = (): number => readdirSync('/proc/self/fd').length
    await subprocess.spawn(sh('true')).done
    await runtime.channels.stock.idle()
    // Those of the command go at the end of the turn.
    await new Promise((resolve) => setImmediate(resolve))
    const before = descriptors()
    for (let batch = 0; batch < 20; batch++) {
      const handles = Array.from({ length: 10 }, () =>
        subprocess.spawn(spec(['seq', '300'], { stdout: { maxBytes: 100, spill: { maxBytes: MEBIBYTE } } })),
      )
      await Promise.all(handles.map(({ done }) => done))
      for (const handle of handles) {
        expect(handle.output.stdout?.spillPath).toBeDefined()
        handle.output.stdout?.release()
      }
    }
    await runtime.channels.stock.idle()
    const files = (): string[] => readdirSync(runtime.directory.path()).filter((name) => name.endsWith('.out'))
    await expect.poll(descriptors).toBeLessThanOrEqual(before)
    await expect.poll(() => ({ files: files(), trees: runtime.live.size })).toEqual({ files: [], trees: 0 })
    expect(runtime.channels.stock.size).toBeLessThanOrEqual(128)
  })

  it('SP-37 the close removes the directory and withdraws what is in it', async () => {
    const { subprocess, runtime } = await openProvider()
    const handle = subprocess.spawn(sh('seq 100000', { stdout: spilling }))
    await handle.done
    const path = handle.output.stdout?.spillPath ?? ''
    expect(existsSync(path)).toBe(true)
    const place = runtime.directory.path()
    await runtime.close()
    expect(existsSync(place)).toBe(false)
    expect(handle.output.stdout?.spillPath).toBeUndefined()
    expect(out(handle).endsWith('100000\n')).toBe(true)
  })
})

describe('where files or FIFOs cannot be made', () => {
  it('SP-33 a missing directory: output within maxBytes, right facts, no path, one warning', async () => {
    const { subprocess, said, directory } = await openProvider()
    const missing = await openProvider({ settings: { spillDirectory: join(directory, 'missing') } })
    for (let count = 0; count < 3; count++) {
      const handle = missing.subprocess.spawn(sh('cat; seq 20000; exit 3', { stdout: spilling, stdin: { data: 'in\n' } }))
      expect(await handle.done).toEqual({ exitCode: 3, signal: null })
      expect(out(handle).startsWith('in\n') || out(handle).endsWith('20000\n')).toBe(true)
      expect(handle.output.stdout?.spillPath).toBeUndefined()
    }
    const warned = missing.said.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(new Set(warned).size).toBe(warned.length)
    expect(warned.join()).toContain('cannot make FIFOs')
    expect(await subprocess.spawn(sh('true')).done).toEqual({ exitCode: 0, signal: null })
    expect(said.filter(({ level }) => level === 'warn')).toEqual([])
  })

  it('SP-33 no mkfifo: pipes do, with one warning', async () => {
    const fault = Object.assign(new Error('spawn mkfifo ENOENT'), { code: 'ENOENT' })
    const { subprocess, said } = await openProvider({
      world: {
        run: () => Promise.reject(fault),
        runSync() {
          throw fault
        },
      },
    })
    const handles = Array.from({ length: 20 }, (_, index) =>
      subprocess.spawn(sh(`cat; echo err >&2; exit ${index}`, { stdin: { data: `in ${index}` } })),
    )
    for (const [index, handle] of handles.entries()) {
      expect(await handle.done).toEqual({ exitCode: index, signal: null })
      expect(out(handle)).toBe(`in ${index}`)
      expect(handle.output.stderr?.readFrom(0).text).toBe('err\n')
    }
    const survivor = subprocess.spawn(sh('sleep 60 & echo done'))
    await survivor.done
    expect(out(survivor)).toBe('done\n')
    const raw = subprocess.spawn(sh('echo raw', { stdout: 'pipe' }))
    expect(String(await raw.stdout?.toArray())).toBe('raw\n')
    expect(said.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  it('SP-33 a directory that a cleaner took is made anew; streams in use go on', async () => {
    const { subprocess, runtime, said } = await openProvider()
    const running = subprocess.spawn(sh('echo one; read go; echo two > /dev/stdout', { stdin: 'pipe' }))
    await running.output.stdout?.changed(0, AbortSignal.timeout(5_000))
    await runtime.channels.stock.idle()
    rmSync(runtime.directory.path(), { recursive: true })
    const next = subprocess.spawn(sh('cat; seq 20000', { stdout: spilling, stdin: { data: 'in\n' } }))
    await next.done
    expect(statSync(next.output.stdout?.spillPath ?? '').isFile()).toBe(true)
    running.stdin?.end('\n')
    await running.done
    expect(out(running)).toBe('one\ntwo\n')
    expect(said.filter(({ level }) => level === 'warn')).toEqual([])
  })

  it.skipIf(isRoot)('SP-33 a directory made unwritable after the first spawn', async () => {
    const { subprocess, runtime, said } = await openProvider()
    await subprocess.spawn(sh('true')).done
    await runtime.channels.stock.idle()
    chmodSync(runtime.directory.path(), 0o500)
    const handle = subprocess.spawn(sh('seq 20000; exit 3', { stdout: spilling }))
    expect(await handle.done).toEqual({ exitCode: 3, signal: null })
    expect(handle.output.stdout?.spillPath).toBeUndefined()
    expect(said.filter(({ level }) => level === 'warn')).toHaveLength(1)
    chmodSync(runtime.directory.path(), 0o700)
  })

  it.runIf(isRoot)('SP-33 a file system of 1 MiB, one that becomes read-only after the first spawn, and a read-only one', async () => {
    const { subprocess, directory } = await openProvider()
    const small = join(directory, 'small')
    mkdirSync(small)
    const mounted = subprocess.spawn(spec(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]))
    expect(await mounted.done).toEqual({ exitCode: 0, signal: null })
    try {
      const full = await openProvider({ settings: { spillDirectory: small } })
      for (let count = 0; count < 2; count++) {
        const handle = full.subprocess.spawn(sh('head -c 3000000 /dev/zero; echo END; exit 3', { stdout: spilling }))
        expect(await handle.done).toEqual({ exitCode: 3, signal: null })
        expect(handle.output.stdout?.spillPath).toBeUndefined()
        expect(out(handle).endsWith('END\n')).toBe(true)
      }
      expect(full.said.filter(({ level }) => level === 'warn')).toHaveLength(1)
      await full.close()
      // A launcher has a file open there, which keeps the file system as it is.
      const earlier = await openProvider({ settings: { spillDirectory: small, launcher: 'host' } })
      await earlier.subprocess.spawn(sh('true')).done
      await earlier.runtime.channels.stock.idle()
      await subprocess.spawn(spec(['mount', '-o', 'remount,bind,ro', small])).done
      for (let count = 0; count < 40; count++) {
        const handle = earlier.subprocess.spawn(sh('seq 20000; exit 4', { stdout: spilling }))
        expect(await handle.done).toEqual({ exitCode: 4, signal: null })
        expect(handle.output.stdout?.spillPath).toBeUndefined()
        expect(out(handle).endsWith('20000\n')).toBe(true)
      }
      const warned = earlier.said.filter(({ level }) => level === 'warn').map(({ message }) => message)
      expect(warned).toHaveLength(new Set(warned).size)
      await earlier.close()
      const readOnly = await openProvider({ settings: { spillDirectory: small } })
      const handle = readOnly.subprocess.spawn(sh('cat; seq 20000; exit 5', { stdout: spilling, stdin: { data: 'in' } }))
      expect(await handle.done).toEqual({ exitCode: 5, signal: null })
      expect(handle.output.stdout?.spillPath).toBeUndefined()
      expect(out(handle).endsWith('20000\n')).toBe(true)
      await readOnly.close()
    } finally {
      await subprocess.spawn(spec(['umount', small])).done
    }
  })

  it('SP-33 a file where the directory should be', async () => {
    const { directory } = await openProvider()
    const file = join(directory, 'file')
    writeFileSync(file, '')
    const { subprocess } = await openProvider({ settings: { spillDirectory: file } })
    const handle = subprocess.spawn(sh('echo out'))
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    expect(out(handle)).toBe('out\n')
  })
})
