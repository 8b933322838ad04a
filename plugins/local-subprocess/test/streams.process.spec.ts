import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants as files, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Collect, OutputMode, SpawnSpec, Subprocess, SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openProvider, sh, spec, spilling, tail } from './open-provider.ts'

function textOf(handle: SubprocessHandle, stream: 'stdout' | 'stderr' = 'stdout'): string {
  const reader = handle.output[stream]
  let all = ''
  for (let offset = 0; reader !== undefined && offset < reader.size(); ) {
    const read = reader.readFrom(offset)
    if (read.text === '') break
    all += read.text
    offset = read.nextOffset
  }
  return all
}

const noFifos = {
  run: () => Promise.reject(new Error('no mkfifo')),
  runSync: () => {
    throw new Error('no mkfifo')
  },
}

describe('exit facts', () => {
  it('SP-09 each of the 256 exit codes is that code, with no signal', async () => {
    const { subprocess } = await openProvider()
    for (let first = 0; first < 256; first += 32) {
      const handles = Array.from({ length: 32 }, (_, index) => subprocess.spawn(sh(`exit ${first + index}`)))
      expect(await Promise.all(handles.map(({ done }) => done))).toEqual(handles.map((_, index) => ({ exitCode: first + index, signal: null })))
    }
  })

  it('SP-09 each signal that ends a process is told by its name', async () => {
    const { subprocess } = await openProvider()
    const survived = new Set(['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'])
    const numbers = new Map<number, string[]>()
    for (const [name, number] of Object.entries(constants.signals)) {
      if (!survived.has(name)) numbers.set(number, [...(numbers.get(number) ?? []), name])
    }
    expect(numbers.size).toBeGreaterThan(15)
    const handles = [...numbers].map(([number, names]) => ({
      names,
      handle: subprocess.spawn(sh(`ulimit -c 0; kill -${number} $$; sleep 60`)),
    }))
    for (const { names, handle } of handles) {
      const { exitCode, signal } = await handle.done
      expect(exitCode).toBeNull()
      expect(names).toContain(signal)
    }
  })

  it('SP-09 two streams that are written to in turn are each complete, and mix nowhere', async () => {
    const { subprocess } = await openProvider()
    const script = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "out $i"; echo "err $i" >&2; done; exit 7'
    const handles = Array.from({ length: 4 }, (_, index) =>
      subprocess.spawn(sh(script, index % 2 === 0 ? {} : { stdout: { ...spilling, maxBytes: 1_000 }, stderr: { ...spilling, maxBytes: 500 } })),
    )
    const lines = (word: string): string => Array.from({ length: 3_000 }, (_, index) => `${word} ${index + 1}\n`).join('')
    for (const handle of handles) {
      expect(await handle.done).toEqual({ exitCode: 7, signal: null })
      expect([textOf(handle), textOf(handle, 'stderr')]).toEqual([lines('out'), lines('err')])
    }
  })
})

/** Plays a scenario of `programs/streams.mjs`, which tells its facts on descriptor 3. */
async function playStreams(scenario: string, terminal: boolean, stdin = ''): Promise<{ facts: unknown; stdout: string; stderr: string }> {
  const program = [process.execPath, fileURLToPath(new URL('programs/streams.mjs', import.meta.url)), scenario]
  // `script` runs a command on a new terminal, and shows what comes on it; descriptors of its own pass through.
  const [command = '', ...args] = terminal ? ['script', '-qec', program.map((word) => `'${word}'`).join(' '), '/dev/null'] : program
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [, , , told] = child.stdio
  if (told === undefined || told === null || !('read' in told)) throw new Error('there is no descriptor 3')
  child.stdin.end(stdin)
  const [said, stdout, stderr] = await Promise.all([text(told), text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (said === '') throw new Error(`the program told nothing, but wrote:\n${stdout}${stderr}`)
  return { facts: JSON.parse(said), stdout, stderr }
}

describe('what each stream is', () => {
  const inputs: SpawnSpec['stdin'][] = ['ignore', 'pipe', { data: 'in' }]
  const outputs: OutputMode[] = ['pipe', 'inherit', tail, spilling]
  const table = inputs.flatMap((stdin) => outputs.flatMap((stdout) => outputs.map((stderr) => ({ stdin, stdout, stderr }))))

  it('SP-10 in every combination: a stream for a pipe, a reader for what is kept, and nothing else', async () => {
    const { subprocess } = await openProvider()
    const shown = (mode: OutputMode): boolean => mode !== 'inherit'
    for (const { stdin, stdout, stderr } of table) {
      const script = `cat ${shown(stdout) ? '' : '> /dev/null'}; ${shown(stderr) ? 'echo err >&2' : ':'}`
      const handle = subprocess.spawn(sh(script, { stdin, stdout, stderr }))
      expect([handle.stdin !== undefined, handle.stdout !== undefined, handle.stderr !== undefined]).toEqual([
        stdin === 'pipe',
        stdout === 'pipe',
        stderr === 'pipe',
      ])
      const kept = { stdout: typeof stdout === 'object', stderr: typeof stderr === 'object' }
      expect(Object.keys(handle.output)).toEqual((['stdout', 'stderr'] as const).filter((stream) => kept[stream]))
      handle.stdin?.end('in')
      const piped = await Promise.all([handle.stdout && text(handle.stdout), handle.stderr && text(handle.stderr)])
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      const written = [stdin === 'ignore' ? '' : 'in', 'err\n']
      expect(piped).toEqual([stdout === 'pipe' ? written[0] : undefined, stderr === 'pipe' ? written[1] : undefined])
      if (kept.stdout) expect(textOf(handle)).toBe(written[0])
      if (kept.stderr) expect(textOf(handle, 'stderr')).toBe(written[1])
    }
  })

  it("SP-10 what is inherited goes to the host's own stream, and what is kept beside it stays apart", async () => {
    const { facts, stdout, stderr } = await playStreams('inherit', false)
    expect({ stdout, stderr }).toEqual({ stdout: 'out\nboth out\n', stderr: 'err\nboth err\nbeside\n' })
    expect(facts).toEqual({ kept: ['err\n', 'out\n'], readers: [['stderr'], ['stdout'], [], []], read: 'piped\n' })
  })

  it.runIf(process.platform === 'linux').each<[string, Partial<SpawnSpec>]>([
    ['captured, and fed with data', { stdin: { data: 'x'.repeat(2_000_000) }, stdout: tail, stderr: tail }],
    ['pipes', { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' }],
  ])('SP-10 a child waits at its standard streams, as programs expect to, when they are %s', async (_, streams) => {
    const { subprocess } = await openProvider()
    const flags = join(mkdtempSync(join(tmpdir(), 'tenon-flags-')), 'flags')
    onTestFinished(() => rmSync(dirname(flags), { recursive: true }))
    const handle = subprocess.spawn(sh(`grep -h flags /proc/self/fdinfo/0 /proc/self/fdinfo/9 /proc/self/fdinfo/2 9>&1 >'${flags}'`, streams))
    handle.stdin?.end()
    handle.stdout?.resume()
    handle.stderr?.resume()
    await handle.done
    const seen = readFileSync(flags, 'utf8').trim().split('\n')
    expect(seen.map((line) => Number.parseInt(line.split('\t')[1] ?? '', 8) & files.O_NONBLOCK)).toEqual([0, 0, 0])
  })

  it("SP-11 a command that reads where it was given nothing leaves the host's standard input unread", async () => {
    const { facts } = await playStreams('stdin', false, 'for the host\n')
    expect(facts).toEqual({ commands: ['', '[] 1\n', 'data'], host: 'for the host\n' })
  })

  it('SP-11 ignore is a character device at its end, for whoever looks and however often', async () => {
    const { subprocess } = await openProvider()
    const script = 'test -c /dev/stdin && echo device; cat; cat /dev/stdin; read -r line; echo "$?"; (cat); cat < /dev/stdin; wc -c'
    const handle = subprocess.spawn(sh(script))
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    expect(textOf(handle)).toBe('device\n1\n0\n')
  })

  it.each([
    ['FIFOs', {}],
    ['pipes, where none can be made', noFifos],
  ])('SP-11 data of any bytes arrives whole and ends, over %s', async (_what, world) => {
    const { subprocess } = await openProvider({ world })
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256))
    for (const data of ['', 'a line\n', 'no newline ≤', bytes, Buffer.alloc(1_048_576, 'x'), Buffer.alloc(1_048_577, 'y')]) {
      const handle = subprocess.spawn(sh('tee /dev/fd/3 3>&1 >/dev/null | cksum; cat | wc -c', { stdin: { data } }))
      const own = subprocess.spawn(sh('cksum', { stdin: 'pipe' }))
      own.stdin?.end(data)
      await Promise.all([handle.done, own.done])
      expect(textOf(handle)).toBe(`${textOf(own)}0\n`)
    }
  })
})

describe('streams do not wait for each other', () => {
  it('SP-13 while stderr is flooded a reader of stdout gets its bytes as they come', async () => {
    const { subprocess } = await openProvider()
    // Between its lines on stdout it writes more to stderr than any pipe holds.
    const script = 'for i in 1 2 3 4 5; do echo "line $i"; head -c 20000000 /dev/zero >&2; done; read -r go; echo "$go"'
    const handle = subprocess.spawn(sh(script, { stdin: 'pipe', stdout: 'pipe' }))
    const { stdout } = handle
    if (stdout === undefined) throw new Error('there is no stream')
    let seen = ''
    for await (const chunk of stdout) {
      seen += String(chunk)
      if (seen.endsWith('line 5\n')) handle.stdin?.end('end\n')
    }
    expect(seen).toBe('line 1\nline 2\nline 3\nline 4\nline 5\nend\n')
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    expect(handle.output.stderr?.size()).toBe(100_000_000)
  })

  it('SP-13 pipes that nobody reads stop their own children only, cost no memory, and lose nothing when they are read at last', async () => {
    const { subprocess } = await openProvider()
    const stuck = Array.from({ length: 5 }, () => subprocess.spawn(sh('head -c 30000000 /dev/zero; echo END; echo done >&2', { stdout: 'pipe' })))
    const others = Array.from({ length: 20 }, (_, index) => subprocess.spawn(sh(`head -c 2000000 /dev/zero; exit ${index}`)))
    const facts = await Promise.all(others.map(({ done }) => done))
    expect(facts.map(({ exitCode }) => exitCode)).toEqual(others.map((_, index) => index))
    for (const handle of stuck) {
      expect(await handle.waitForExit(AbortSignal.timeout(20))).toBe(false)
      expect([handle.output.stderr?.size(), (handle.stdout?.readableLength ?? 0) < 1_000_000]).toEqual([0, true])
    }
    const [first, second, ...rest] = stuck
    const whole = first?.stdout && (await first.stdout.toArray())
    expect(Buffer.concat(whole ?? []).length).toBe(30_000_004)
    expect(await first?.done).toEqual({ exitCode: 0, signal: null })
    expect(first && textOf(first, 'stderr')).toBe('done\n')
    second?.terminate()
    expect(await second?.waitForExit()).toBe(true)
    for (const handle of rest) {
      expect(handle.output.stderr?.size()).toBe(0)
      handle.terminate()
    }
  })
})

describe('the bound of a stream', () => {
  const kept: [string, (maxBytes: number) => Collect][] = [
    ['the recoverable form', (maxBytes) => ({ maxBytes, spill: { maxBytes: 4_000_000 } })],
    ['the diagnostic form', (maxBytes) => ({ maxBytes })],
  ]

  it.each(kept)('SP-21 of exactly so many bytes all is there and no file is, in one piece or in many: %s', async (_what, keep) => {
    const { subprocess, runtime } = await openProvider()
    for (const size of [4, 5, 64, 1_000, 4_096, 65_536, 65_537, 1_000_000]) {
      const block = Math.max(1, Math.ceil(size / 50))
      for (const source of [`head -c ${size} /dev/zero`, `dd if=/dev/zero bs=${block} count=50 2>/dev/null | head -c ${size}`]) {
        const handle = subprocess.spawn(sh(`(${source} | tr '\\0' x)`, { stdout: keep(size), stderr: keep(4) }))
        await handle.done
        const { stdout } = handle.output
        expect([stdout?.size(), stdout?.earliest(), stdout?.spillPath]).toEqual([size, 0, undefined])
        expect(stdout?.readFrom(0)).toEqual({ text: 'x'.repeat(size), startOffset: 0, nextOffset: size, lossy: false })
      }
    }
    expect(readdirSync(runtime.directory.path()).filter((name) => !/\.fifo$|^owner/.test(name))).toEqual([])
  })

  it('SP-21 B052 each stream has its own: one that overflows takes nothing from the other, whichever it is', async () => {
    const { subprocess } = await openProvider()
    for (const over of ['stdout', 'stderr'] as const) {
      const within = over === 'stdout' ? 'stderr' : 'stdout'
      const script = `seq 1 20000 ${over === 'stderr' ? '>&2' : ''}; printf 12345678 ${over === 'stdout' ? '>&2' : ''}`
      const handle = subprocess.spawn(
        sh(script, { [over]: { maxBytes: 100, spill: { maxBytes: 1_000_000 } }, [within]: { maxBytes: 8, spill: { maxBytes: 8 } } }),
      )
      await handle.done
      expect(handle.output[within]).toMatchObject({ spillPath: undefined })
      expect(textOf(handle, within)).toBe('12345678')
      const whole = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')
      expect(handle.output[over]?.readFrom(whole.length - 100).text).toBe(whole.slice(-100))
      expect(readFileSync(handle.output[over]?.spillPath ?? '', 'utf8')).toBe(whole)
    }
  })
})

async function fiveHundred(subprocess: Subprocess): Promise<void> {
  for (let batch = 0; batch < 25; batch++) {
    const handles = Array.from({ length: 20 }, (_, index) =>
      subprocess.spawn(spec(['printf', 'x'], { stdout: index % 2 === 0 ? tail : spilling, stdin: index % 5 === 0 ? { data: 'y' } : 'ignore' })),
    )
    expect(await Promise.all(handles.map(({ done }) => done))).toEqual(handles.map(() => ({ exitCode: 0, signal: null })))
    expect(handles.map((handle) => [textOf(handle), textOf(handle, 'stderr')])).toEqual(handles.map(() => ['x', '']))
  }
}

describe('many short commands', () => {
  it.each([
    ['FIFOs', {}],
    ['pipes, where none can be made', noFifos],
  ])('SP-32 500 × `printf x` in batches of 20 give 500 × `x`, on a busy machine and beside a flood, over %s', async (_what, world) => {
    const { subprocess, directory } = await openProvider({ world })
    mkdirSync(join(directory, 'work'))
    const load = ['while :; do :; done', 'exec yes', 'while :; do sleep 60 & echo left; sleep 0.05; done'].map((each) => subprocess.spawn(sh(each)))
    await fiveHundred(subprocess)
    for (const handle of load) handle.terminate()
    expect(await Promise.all(load.map((handle) => handle.waitForExit()))).toEqual([true, true, true])
  })
})

describe('a host that has a terminal', () => {
  it.runIf(process.platform === 'linux')(
    'SP-08 B076 B095 its commands have none: who asks there is refused at once, nothing is shown on it, and an interactive shell does not take it',
    async () => {
      const { facts, stdout } = await playStreams('terminal', true)
      const { hostHasTerminal, refused, elapsedMs, interactive } = facts as Record<string, unknown>
      expect({ hostHasTerminal, refused, interactive }).toEqual({
        hostHasTerminal: true,
        refused: [true, true, true, true, true],
        interactive: 'interactive\nnone\n',
      })
      expect(Number(elapsedMs)).toBeLessThan(20_000)
      expect(stdout).toBe('')
    },
  )
})
