import { readdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderResult, type ShellExecution } from '@tenon/shell'
import { describe, expect, it } from 'vitest'
import { bench } from './bash-bench.ts'
import { ownTemporaryDirectory } from './own-temporary-directory.ts'

const numbers = (upTo: number): string => Array.from({ length: upTo }, (_, n) => `${n + 1}\n`).join('')

/** Files of complete output, with their sizes. */
function spills(temporary: string): { name: string; bytes: number }[] {
  return readdirSync(temporary, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.out'))
    .map((name) => ({ name: join(temporary, name), bytes: statSync(join(temporary, name), { throwIfNoEntry: false })?.size ?? 0 }))
}

/** Every delta until the end, joined. */
async function drained(execution: ShellExecution, pauseMs: () => number): Promise<string> {
  let text = ''
  while (execution.status === 'running') {
    text += execution.readOutput().delta
    await new Promise((resolve) => setTimeout(resolve, pauseMs()))
  }
  return text + execution.readOutput().delta
}

describe('more output than is kept', () => {
  it('SH-20 a backlog of 10 MB on either stream is one delta within its budget, lossy, with the files that hold all of it', () =>
    bench({ maxOutputBytes: 4_000, maxSpillBytes: 20_000_000 }, async ({ start }) => {
      const execution = await start('seq 1 1500000; seq 1 1500000 >&2', { stdoutMaxBytes: 10_000 })
      await execution.done
      const whole = numbers(1_500_000)
      expect(whole.length).toBeGreaterThan(10_000_000)
      const { delta, lossy, stdoutSpillPath, stderrSpillPath } = execution.readOutput()
      expect(lossy).toBe(true)
      expect(delta).toBe(`${whole.slice(-10_000)}[stderr]\n${whole.slice(-4_000)}`)
      for (const path of [stdoutSpillPath, stderrSpillPath]) expect((await readFile(path ?? 'none', 'utf8')) === whole).toBe(true)
      expect(execution.readOutput()).toEqual({ delta: '', lossy: false })
    }))

  it('SH-20 what comes after a backlog was taken is not lossy, and what was taken never comes again', () =>
    bench({ maxOutputBytes: 1_000 }, async ({ start }) => {
      const execution = await start('seq 1 100000; sleep 0.5; echo after')
      const { stdout } = execution.observed
      const bytes = numbers(100_000).length
      while (stdout.size() < bytes) expect(await stdout.changed(stdout.size(), AbortSignal.timeout(20_000))).toBe(true)
      const backlog = execution.readOutput()
      expect([backlog.lossy, Buffer.byteLength(backlog.delta) <= 1_000]).toEqual([true, true])
      await execution.done
      const rest = execution.readOutput()
      expect([`${backlog.delta}${rest.delta}`.endsWith('100000\nafter\n'), rest.lossy]).toEqual([true, false])
    }))

  it('SH-21 B050 one giant last line is kept from its end, with and without a newline', () =>
    bench({}, async ({ run }) => {
      const { stdout } = await run("head -c 250000 /dev/zero | tr '\\0' x; echo END")
      expect(stdout).toMatchObject({ bytes: 250_004, truncated: true, text: `${'x'.repeat(63_996)}END\n` })
      expect(await readFile(stdout.spillPath ?? 'none', 'utf8')).toBe(`${'x'.repeat(250_000)}END\n`)
      expect((await run("head -c 250000 /dev/zero | tr '\\0' x")).stdout).toMatchObject({ truncated: true, text: 'x'.repeat(64_000) })
    }))

  it('SH-21 B055 a file never holds more than its limit, and is gone beyond it, while the tail goes on', async () => {
    const temporary = ownTemporaryDirectory()
    await bench({ maxOutputBytes: 1_000, maxSpillBytes: 1_048_576, graceMs: 300 }, async ({ start }) => {
      const execution = await start('yes', { onExpiry: 'none' })
      const { stdout } = execution.observed
      let largest = 0
      while (stdout.size() < 20_000_000) {
        largest = Math.max(largest, ...spills(temporary).map(({ bytes }) => bytes))
        expect(await stdout.changed(stdout.size(), AbortSignal.timeout(20_000))).toBe(true)
      }
      expect(largest).toBeLessThanOrEqual(1_048_576)
      expect([spills(temporary), stdout.spillPath]).toEqual([[], undefined])
      execution.kill()
      const result = await execution.result()
      expect(result.stdout).toMatchObject({ text: 'y\n'.repeat(500), truncated: true })
      expect(renderResult(result)).toMatch(/\n\[output truncated; full output: \(unavailable\)\]\n\[killed by signal: SIGTERM\]$/)
    })
  })

  it('SH-21 B056 a command that follows its own output feeds itself no further than its limit', async () => {
    const temporary = ownTemporaryDirectory()
    await bench({ maxOutputBytes: 1_000, maxSpillBytes: 500_000, graceMs: 300 }, async ({ start, directory }) => {
      const script = 'seq 1 2000; until [ -e path ]; do sleep 0.01; done; while cat "$(cat path)"; do :; done'
      const execution = await start(script, { workdir: directory })
      const { stdout } = execution.observed
      await expect.poll(() => stdout.spillPath).toBeDefined()
      const path = stdout.spillPath ?? 'none'
      expect(statSync(path).mode & 0o777).toBe(0o600)
      writeFileSync(join(directory, 'new'), path)
      renameSync(join(directory, 'new'), join(directory, 'path'))
      let largest = 0
      // Each round doubles what there is, until the file goes, and cat fails.
      while (execution.status === 'running') {
        largest = Math.max(largest, ...spills(temporary).map(({ bytes }) => bytes))
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(stdout.size()).toBeGreaterThan(500_000)
      expect([largest <= 500_000, spills(temporary), readdirSync(directory)]).toEqual([true, [], ['path']])
    })
  })

  it('SH-21 B058 a file that somebody deletes is not named any more, harms nobody, and is not held open', async () => {
    const temporary = ownTemporaryDirectory()
    await bench({ maxOutputBytes: 1_000 }, async ({ start, run }) => {
      const execution = await start('seq 1 5000; cat; seq 5001 10000', { stdin: '' })
      await execution.done
      const path = execution.observed.stdout.spillPath ?? 'none'
      rmSync(path)
      expect(execution.observed.stdout.readFrom(0)).toMatchObject({ lossy: true })
      expect((await execution.result()).stdout).toMatchObject({ truncated: true, text: numbers(10_000).slice(-1_000) })
      expect((await execution.result()).stdout).not.toHaveProperty('spillPath')
      for (let batch = 0; batch < 10; batch++) await Promise.all(Array.from({ length: 20 }, () => run('seq 1 1000')))
      const open = (): string[] =>
        readdirSync('/proc/self/fd').flatMap((descriptor) => {
          try {
            const target = readlinkSync(`/proc/self/fd/${descriptor}`)
            return target.startsWith(temporary) && target.includes('.out') ? [target] : []
          } catch {
            return []
          }
        })
      await expect.poll(open).toEqual([])
    })
  })

  it('SH-21 B059 the files of 100 commands go with the process provider, and nothing else is left', async () => {
    const temporary = ownTemporaryDirectory()
    await bench({ maxOutputBytes: 100 }, async ({ run }) => {
      await Promise.all(Array.from({ length: 100 }, (_, n) => run(`seq 1 200 #${n % 10 === 0 ? 'x'.repeat(100_000) : ''}`)))
      expect(spills(temporary)).toHaveLength(100)
    })
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe('reading while a command runs', () => {
  it('SH-19 B053 deltas at random moments are the whole text, once each, whatever observers do meanwhile', () =>
    bench({}, async ({ start }) => {
      const execution = await start('for i in $(seq 1 50); do echo L$i; sleep 0.02; done')
      let observed = ''
      const observe = async (): Promise<void> => {
        for (let offset = 0; !execution.observed.stdout.finished || offset < execution.observed.stdout.size(); ) {
          const read = execution.observed.stdout.readFrom(offset, 7)
          observed += read.text
          offset = read.nextOffset
          if (read.text === '') await execution.observed.stdout.changed(offset, AbortSignal.timeout(20_000))
        }
      }
      const [text] = await Promise.all([drained(execution, () => Math.random() * 60), observe()])
      const whole = Array.from({ length: 50 }, (_, n) => `L${n + 1}\n`).join('')
      expect([text, observed, (await execution.result()).stdout.text]).toEqual([whole, whole, whole])
    }))

  it('SH-19 B049 300,000 writes of one byte cost about what they cost without us, and every byte is there', () =>
    bench({ maxOutputBytes: 400_000 }, async ({ start, run }) => {
      const program = `perl -e '$| = 1; print(chr(97 + $_ % 26)) for 0 .. 299999'`
      const whole = Array.from({ length: 300_000 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('')
      const ratios: number[] = []
      // A loaded machine may be slow once; what is quadratic is slow always.
      for (let attempt = 0; attempt < 4 && !ratios.some((ratio) => ratio < 2); attempt++) {
        const bare = await run(`${program} | cat > /dev/null`)
        const execution = await start(program)
        const text = await drained(execution, () => 10)
        expect(text === whole).toBe(true)
        ratios.push((await execution.result()).durationMs / bare.durationMs)
      }
      expect(Math.min(...ratios)).toBeLessThan(2)
    }))
})

describe('what is not plain text', () => {
  it.each([
    ['stdout', ''],
    ['stderr', ' >&2'],
  ] as const)('SH-22 B062 a character in two writes is one on %s, for whoever reads between them', (stream, to) =>
    bench({}, async ({ start }) => {
      const execution = await start(`{ printf 'a\\xe2'; sleep 0.2; printf '\\x89'; sleep 0.2; printf '\\xa4b'; }${to}`)
      const reader = execution.observed[stream]
      const seenTexts = new Set<string>()
      while (!reader.finished) {
        seenTexts.add(reader.readFrom(0).text)
        await reader.changed(reader.size(), AbortSignal.timeout(20_000))
      }
      await execution.done
      expect([...seenTexts, reader.readFrom(0).text].filter((text) => !['', 'a', 'a≤b'].includes(text))).toEqual([])
      expect((await execution.result())[stream].text).toBe('a≤b')
      expect(execution.readOutput().delta).toBe(stream === 'stdout' ? 'a≤b' : '[stderr]\na≤b')
    }),
  )

  it('SH-22 every bound over text of every width cuts between characters only', async () => {
    const unit = 'aé≤🛑'
    for (let maxOutputBytes = 4; maxOutputBytes <= 24; maxOutputBytes++) {
      await bench({ maxOutputBytes }, async ({ start }) => {
        const execution = await start(`for i in 1 2 3 4 5; do printf '${unit}'; done`)
        const { stdout } = await execution.result()
        const whole = unit.repeat(5)
        expect(whole.endsWith(stdout.text)).toBe(true)
        expect(Buffer.byteLength(stdout.text)).toBeGreaterThan(maxOutputBytes - 4)
        expect(Buffer.byteLength(stdout.text)).toBeLessThanOrEqual(maxOutputBytes)
        const { delta } = execution.readOutput()
        expect(delta).toBe(stdout.text)
      })
    }
  })

  it('SH-22 B064 bytes that are no text are shown as far as they are, kept exactly in the file, and fit into JSON', () =>
    bench({ maxOutputBytes: 1_000 }, async ({ run, directory }) => {
      for (const source of ['head -c 5000 /dev/urandom', 'seq 1 5000 | gzip -c', "printf 'a\\0b\\n%.0s' $(seq 1 2000)"]) {
        const { stdout } = await run(`(${source}) | tee original`, { workdir: directory })
        expect(await readFile(stdout.spillPath ?? 'none')).toEqual(await readFile(join(directory, 'original')))
        expect(stdout.text.length).toBeGreaterThan(300)
        expect(stdout.text).toBe(JSON.parse(JSON.stringify(stdout.text)))
        expect(/\p{Surrogate}/u.test(stdout.text)).toBe(false)
      }
      expect((await run("printf 'a\\0b\\xff\\n'")).stdout).toEqual({ text: 'a\0b\ufffd\n', bytes: 5, truncated: false })
    }))

  it('SH-22 B067 each command is decoded for itself: what one wrote in another encoding changes nothing for the next', () =>
    bench({}, async ({ run }) => {
      expect((await run("printf 'caf\\xe9'")).stdout.text).toBe('caf\ufffd')
      expect((await run('printf café')).stdout.text).toBe('café')
    }))

  it('SH-22 B071 B070 format characters, separators and terminal sequences arrive as they were written', () =>
    bench({}, async ({ run, start }) => {
      const text = '\u0600\u2028\u202e\ufeffA\n'
      const result = await run(`printf '\\u0600\\u2028\\u202e\\ufeffA\\n'`, { env: { LC_ALL: 'C.UTF-8' } })
      expect(result.stdout.text).toBe(text)
      expect(JSON.parse(JSON.stringify(result))).toEqual(result)
      const controls = '\u001b[2J\u001b]0;pwn\u0007\u001b]52;c;aGk=\u0007\u001b[?25lX'
      const execution = await start(`printf '\\033[2J\\033]0;pw'; sleep 0.1; printf 'n\\007\\033]52;c;aGk=\\007\\033[?25lX'`)
      expect(await drained(execution, () => 10)).toBe(controls)
      expect((await execution.result()).stdout.text).toBe(controls)
    }))
})
