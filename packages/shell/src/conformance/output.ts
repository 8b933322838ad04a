import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { ShellExecution, ShellRead } from '../index.ts'
import { benchOf, type ShellUnderTest, seen } from './world.ts'

const numbers = (upTo: number): string => Array.from({ length: upTo }, (_, n) => `${n + 1}\n`).join('')

/** Consuming and observing reads, bounds, and what is not text. */
export function outputOf(under: ShellUnderTest): void {
  const bench = benchOf(under)

  it('SH-19 deltas read at any moment concatenate to the whole text; observers and result() are not disturbed', () =>
    bench({}, async ({ start }) => {
      const steps = Array.from({ length: 30 }, (_, n) => [
        { do: 'print', text: `L${n}≤\r\n` } as const,
        { do: 'sleep', ms: n % 3 === 0 ? 15 : 0 } as const,
      ]).flat()
      const text = steps.flatMap((step) => (step.do === 'print' ? step.text : [])).join('')
      const execution = await start(steps)
      const deltas: string[] = []
      for (let turn = 0; execution.status === 'running'; turn++) {
        deltas.push(execution.readOutput().delta)
        await execution.observed.stdout.changed(turn % 2 === 0 ? 0 : execution.observed.stdout.size(), AbortSignal.timeout(10))
        await new Promise((resolve) => setImmediate(resolve))
      }
      deltas.push(execution.readOutput().delta)
      expect(deltas.join('')).toBe(text)
      expect(execution.readOutput()).toEqual({ delta: '', lossy: false })
      expect(execution.observed.stdout.readFrom(0).text).toBe(text)
      expect((await execution.result()).stdout.text).toBe(text)
    }))

  it('SH-19 stderr follows stdout under its own line, and a newline is put in only where one lacks', () =>
    bench({}, async ({ start }) => {
      const both = async (out: string, err: string): Promise<ShellRead> => {
        const execution = await start([
          { do: 'print', text: out },
          { do: 'print', text: err, to: 'stderr' },
        ])
        await execution.done
        return execution.readOutput()
      }
      expect(await both('out', 'err\n')).toEqual({ delta: 'out\n[stderr]\nerr\n', lossy: false })
      expect(await both('out\n', 'err')).toEqual({ delta: 'out\n[stderr]\nerr', lossy: false })
      expect(await both('', 'err')).toEqual({ delta: '[stderr]\nerr', lossy: false })
      expect(await both('out\r\n', '')).toEqual({ delta: 'out\r\n', lossy: false })
    }))

  it('SH-20 a backlog of 10 MB is one delta within the budget, lossy, with a path for either stream', () =>
    bench({ maxOutputBytes: 4_000 }, async ({ start }) => {
      const execution = await start([
        { do: 'count', upTo: 700_000 },
        { do: 'count', upTo: 700_000, to: 'stderr' },
      ])
      await execution.done
      const read = execution.readOutput()
      expect(read).toEqual({ delta: expect.any(String), lossy: true, stdoutSpillPath: expect.any(String), stderrSpillPath: expect.any(String) })
      expect(Buffer.byteLength(read.delta)).toBeLessThanOrEqual(8_000 + '\n[stderr]\n'.length)
      expect(read.delta.endsWith('700000\n')).toBe(true)
      expect(execution.readOutput()).toEqual({ delta: '', lossy: false })
    }))

  it('SH-21 over the budget the text is the exact tail, and the file holds everything, the first line included', () =>
    bench({ maxOutputBytes: 1_000 }, async ({ run }) => {
      const whole = numbers(5_000)
      const result = await run([
        { do: 'count', upTo: 5_000 },
        { do: 'count', upTo: 5_000, to: 'stderr' },
      ])
      for (const stream of [result.stdout, result.stderr]) {
        expect(stream).toMatchObject({ bytes: whole.length, truncated: true, spillPath: expect.any(String) })
        expect(stream.text).toBe(whole.slice(-1_000))
        expect(await readFile(stream.spillPath ?? '', 'utf8')).toBe(whole)
      }
    }))

  it('SH-21 beyond the spill limit there is no path, and the tail goes on', () =>
    bench({ maxOutputBytes: 1_000, maxSpillBytes: 10_000 }, async ({ run }) => {
      const { stdout } = await run([{ do: 'count', upTo: 5_000 }])
      expect(stdout).toEqual({ text: numbers(5_000).slice(-1_000), bytes: expect.any(Number), truncated: true })
    }))

  it('SH-22 a line of 250,000 bytes ends with its last bytes', () =>
    bench({}, async ({ run }) => {
      const { stdout } = await run([
        { do: 'write', bytes: Array.from({ length: 250_000 }, () => 120) },
        { do: 'print', text: 'END' },
      ])
      expect(stdout).toMatchObject({ bytes: 250_003, truncated: true })
      expect(stdout.text).toBe(`${'x'.repeat(63_997)}END`)
    }))

  it('SH-22 a character split over two writes is one character for every reader', () =>
    bench({}, async ({ start }) => {
      const execution = await start([
        { do: 'write', bytes: [0x61, 0xe2] },
        { do: 'cat' },
        { do: 'sleep', ms: 200 },
        { do: 'write', bytes: [0x89, 0xa4] },
      ])
      await seen(execution.observed.stdout, 'a')
      expect(execution.readOutput().delta).toBe('a')
      await execution.done
      expect(execution.readOutput().delta).toBe('≤')
      expect((await execution.result()).stdout.text).toBe('a≤')
    }))

  it('SH-22 a bound within a character cuts before it, and bytes that are no text are no error', async () => {
    for (const maxOutputBytes of [10, 11, 12]) {
      await bench({ maxOutputBytes }, async ({ run }) => {
        const { stdout } = await run([{ do: 'print', text: '≤'.repeat(20) }])
        expect(stdout.text).toBe('≤'.repeat(Math.floor(maxOutputBytes / 3)))
      })
    }
    await bench({}, async ({ run }) => {
      const { stdout } = await run([{ do: 'write', bytes: [0x61, 0, 0xff, 0xfe, 0x62, 0x0a] }])
      expect(stdout).toEqual({ text: 'a\0\ufffd\ufffdb\n', bytes: 6, truncated: false })
    })
  })

  it('SH-19 the observing readers begin at any offset, also after the end', () =>
    bench({}, async ({ start }) => {
      const execution: ShellExecution = await start([{ do: 'print', text: 'abcdef' }])
      await execution.done
      expect(execution.observed.stdout.readFrom(2).text).toBe('cdef')
      expect(execution.observed.stdout.readFrom(6)).toMatchObject({ text: '', nextOffset: 6 })
    }))
}
