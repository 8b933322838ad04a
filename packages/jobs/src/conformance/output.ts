import { describe, expect, it } from 'vitest'
import type { JobRead } from '../index.ts'
import { codeOf, type World } from './world.ts'

export function describeOutput(world: World): void {
  const textOf = ({ chunks }: Pick<JobRead, 'chunks'>) => chunks.map(({ text }) => text).join('')

  describe('the output', () => {
    it('JB-32 arrives in pages that add up to the stream; other readers do not move the cursor', () =>
      world((inside) => {
        const { jobs, session } = inside
        const producer = inside.start()
        const stream = Array.from({ length: 100 }, (_, n) => `${n}: ä🦀\n`).join('')
        producer.stdout.write(stream)
        let read = ''
        for (let left = 1; left > 0; ) {
          const page = jobs.read(producer.id, session, { maxBytes: 50 })
          expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(50)
          expect(textOf(jobs.readAt(producer.id, { stdout: 0 }, 'host'))).toBe(stream)
          read += textOf(page)
          left = page.unread
        }
        expect(read).toBe(stream)
        expect(jobs.readAt(producer.id, 'unread', session)).toMatchObject({ chunks: [], unread: 0 })
      }))

    it('JB-35 offsets that are none are refused', () =>
      world((inside) => {
        const { id } = inside.start()
        for (const offsets of [{ stdout: -1 }, { stdout: 0.5 }, { stdout: Number.NaN }, { stdout: 1 }, { nope: 0 }]) {
          expect(codeOf(() => inside.jobs.readAt(id, offsets, 'host'))).toBe('JOB_OFFSET_INVALID')
        }
      }))

    it('JB-36 names a channel that cannot be read, and leaves the others alone', () =>
      world((inside) => {
        const producer = inside.start()
        producer.stdout.broken = new Error('disk gone')
        producer.stderr.write('fine')
        expect(inside.jobs.read(producer.id, inside.session).chunks).toMatchObject([{ channel: 'stdout', error: 'disk gone' }, { text: 'fine' }])
      }))

    it('JB-37 the last lines pass over what is unread before them', () =>
      world((inside) => {
        const producer = inside.start()
        producer.stdout.write('one\ntwo\nthree\n')
        expect(inside.jobs.read(producer.id, inside.session, { tailLines: 1 })).toMatchObject({
          chunks: [{ text: 'three\n' }],
          skipped: 8,
          unread: 0,
        })
      }))

    it('JB-38 of a producer with a final value is that value, from the settlement on', () =>
      world(async (inside) => {
        const producer = inside.start({ attached: false })
        expect(textOf(inside.jobs.readAt(producer.id, {}, 'host'))).toBe('')
        await producer.end({ status: 'completed', value: 'answer' })
        expect(inside.jobs.read(producer.id, inside.session).chunks).toMatchObject([{ channel: 'result', text: 'answer' }])
      }))

    it('JB-39 is followed to its end, and from where one stopped', () =>
      world(async (inside) => {
        const producer = inside.start()
        producer.stdout.write('one ')
        const follow = async (from: Record<string, number>) => {
          const items: string[] = []
          for await (const item of inside.jobs.follow(producer.id, { caller: 'host', from })) {
            items.push(item.type === 'output' ? textOf(item) : item.type === 'status' ? item.job.status : item.type)
          }
          return items
        }
        const both = [follow({}), follow({ stdout: 4 })]
        await new Promise((resolve) => setImmediate(resolve))
        producer.stdout.write('two')
        await new Promise((resolve) => setImmediate(resolve))
        await producer.end()
        expect(await Promise.all(both)).toEqual([
          ['opened', 'one ', 'two', 'completed', 'end'],
          ['opened', 'two', 'completed', 'end'],
        ])
      }))
  })
}
