import { describe, expect, it } from 'vitest'
import { bench, collected, type Open, readAll, shows, spilling } from './under-test.ts'

export function describeOutput(open: Open): void {
  describe('collected output', () => {
    it('SP-21 a stream of exactly maxBytes is complete in memory and has no file; each stream has its own bound', async () => {
      const { sh } = await bench(open)
      const handle = sh('printf 12345678; printf 1234 >&2', { stdout: { maxBytes: 8, spill: { maxBytes: 64 } }, stderr: { maxBytes: 4 } })
      await handle.done
      expect(collected(handle).readFrom(0)).toEqual({ text: '12345678', startOffset: 0, nextOffset: 8, lossy: false })
      expect(collected(handle).spillPath).toBeUndefined()
      expect(collected(handle, 'stderr').readFrom(0)).toEqual({ text: '1234', startOffset: 0, nextOffset: 4, lossy: false })
    })

    it('SP-22 one byte more, and the file has the complete stream', async () => {
      const { sh } = await bench(open)
      const handle = sh('printf 123456789', { stdout: { maxBytes: 8, spill: { maxBytes: 64 } } })
      await handle.done
      const { spillPath } = collected(handle)
      expect(spillPath).toBeDefined()
      const copy = sh(`cat ${spillPath}`)
      await copy.done
      expect(readAll(collected(copy))).toBe('123456789')
      expect(readAll(collected(handle))).toBe('123456789')
      expect(collected(handle).earliest()).toBe(0)
    })

    it.each([
      ['large chunks', 'head -c 300000 /dev/urandom'],
      ['small chunks', 'for i in $(seq 300); do head -c 1000 /dev/urandom; done'],
    ])('SP-22 the file is the byte-exact stream, NUL and invalid bytes included, and so is the tail (%s)', async (_what, source) => {
      const { sh, directory } = await bench(open)
      const handle = sh(`(${source}) | tee original`, { stdout: spilling })
      await handle.done
      const { spillPath } = collected(handle)
      const compare = sh(`cmp ${directory}/original ${spillPath}`)
      expect(await compare.done).toEqual({ exitCode: 0, signal: null })
      // Random bytes: the tail may begin inside a character, so it is compared with the end of the whole.
      const { text, startOffset, nextOffset } = collected(handle).readFrom(299_000)
      expect([startOffset - 299_000 <= 3, nextOffset]).toEqual([true, 300_000])
      expect(readAll(collected(handle)).endsWith(text)).toBe(true)
    })

    it('SP-23 without spill an offset that slid out gives the retained tail, marked as lossy', async () => {
      const { sh } = await bench(open)
      const handle = sh('printf abcdefghij', { stdout: { maxBytes: 4 } })
      await handle.done
      const reader = collected(handle)
      expect([reader.size(), reader.earliest(), reader.spillPath]).toEqual([10, 6, undefined])
      expect(reader.readFrom(0)).toEqual({ text: 'ghij', startOffset: 6, nextOffset: 10, lossy: true })
      expect(reader.readFrom(7)).toEqual({ text: 'hij', startOffset: 7, nextOffset: 10, lossy: false })
      expect(reader.readFrom(11)).toEqual({ text: '', startOffset: 11, nextOffset: 11, lossy: false })
    })

    it('SP-24 over its cap the file goes for good, the child and the tail go on', async () => {
      const { sh } = await bench(open)
      const handle = sh('head -c 5000 /dev/zero; read go; head -c 200000 /dev/zero | tr "\\0" y; echo END', {
        stdin: 'pipe',
        stdout: { maxBytes: 1_000, spill: { maxBytes: 100_000 } },
      })
      const reader = collected(handle)
      while (reader.size() < 5_000) await reader.changed(reader.size(), AbortSignal.timeout(10_000))
      while (reader.spillPath === undefined) await new Promise((resolve) => setImmediate(resolve))
      const path = reader.spillPath
      handle.stdin?.end('go\n')
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      expect(reader).toMatchObject({ spillPath: undefined })
      expect(reader.size()).toBe(205_004)
      expect(reader.earliest()).toBe(204_004)
      expect(reader.readFrom(0)).toMatchObject({ text: `${'y'.repeat(996)}END\n`, lossy: true, startOffset: 204_004 })
      const look = sh(`ls ${path} 2>/dev/null; echo looked`)
      await look.done
      expect(readAll(collected(look))).toBe('looked\n')
    })

    it('SP-25 readers of different speeds, and a late one, each see every byte', async () => {
      const { sh } = await bench(open)
      const handle = sh('i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i ≤ 😀"; done', { stdout: spilling })
      const reader = collected(handle)
      const follow = async (maxBytes: number): Promise<string> => {
        let text = ''
        for (let offset = 0; ; ) {
          const size = reader.size()
          const read = reader.readFrom(offset, maxBytes)
          text += read.text
          offset = read.nextOffset
          if (read.text === '' && !(await reader.changed(size, AbortSignal.timeout(10_000)))) return text + readAll(reader, offset)
        }
      }
      const texts = await Promise.all([follow(5), follow(1_000)])
      const expected = Array.from({ length: 300 }, (_, index) => `line ${index + 1} ≤ 😀\n`).join('')
      expect(texts).toEqual([expected, expected])
      expect(readAll(reader, 0, 77)).toBe(expected)
    })

    it('SP-26 a character that arrives in pieces is never shown in pieces', async () => {
      const { sh } = await bench(open)
      const handle = sh(`for b in '\\342' '\\211' '\\244'; do printf "$b"; read next; done`, { stdin: 'pipe' })
      const reader = collected(handle)
      const seen: string[] = []
      for (let bytes = 1; bytes <= 3; bytes++) {
        while (reader.size() < bytes) await reader.changed(reader.size(), AbortSignal.timeout(10_000))
        seen.push(reader.readFrom(0).text)
        handle.stdin?.write('\n')
      }
      await handle.done
      expect(seen).toEqual(['', '', '≤'])
    })

    it('SP-26 a character cut short is replaced once nothing can complete it', async () => {
      const { sh } = await bench(open)
      const handle = sh(`printf 'a\\342\\211'`)
      await handle.done
      await handle.waitForExit()
      expect(readAll(collected(handle))).toBe('a\u{fffd}')
    })

    it('SP-27 changed wakes with the data, and returns false on abort and at the end', async () => {
      const { sh } = await bench(open)
      const handle = sh('read go; echo x; read go', { stdin: 'pipe' })
      const reader = collected(handle)
      const controller = new AbortController()
      const aborted = reader.changed(0, controller.signal)
      const woken = reader.changed(0, AbortSignal.timeout(10_000))
      controller.abort()
      expect(await aborted).toBe(false)
      handle.stdin?.write('\n')
      expect(await woken).toBe(true)
      await shows(handle, 'x\n')
      const ended = reader.changed(2, AbortSignal.timeout(10_000))
      handle.stdin?.end('\n')
      expect(await ended).toBe(false)
      expect(await reader.changed(0, AbortSignal.abort())).toBe(true)
      expect(reader.finished).toBe(true)
    })

    it('READ_INVALID names what is out of range', async () => {
      const { sh } = await bench(open)
      const handle = sh('true')
      await handle.done
      for (const [offset, maxBytes] of [[-1], [0.5], [Number.NaN], [0, 3], [0, 4.5]] as const) {
        expect(() => collected(handle).readFrom(offset, maxBytes)).toThrow(expect.objectContaining({ code: 'READ_INVALID' }))
      }
    })

    it('a released stream keeps its tail and loses its file', async () => {
      const { sh } = await bench(open)
      const handle = sh('head -c 5000 /dev/zero | tr "\\0" x', { stdout: spilling })
      await handle.done
      const reader = collected(handle)
      const path = reader.spillPath
      reader.release()
      reader.release()
      expect(reader.spillPath).toBeUndefined()
      expect(reader.readFrom(0)).toMatchObject({ text: 'x'.repeat(1_000), startOffset: 4_000, lossy: true })
      const gone = sh(`while [ -e ${path} ]; do sleep 0.01; done`)
      expect(await gone.done).toEqual({ exitCode: 0, signal: null })
    })
  })
}
