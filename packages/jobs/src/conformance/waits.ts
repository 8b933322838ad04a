import { describe, expect, it } from 'vitest'
import { human, type Inside, type World } from './world.ts'

export function describeWaits(world: World): void {
  const settlementOf = ({ events }: Inside, id: string) => events.find((event) => event.type === 'settled' && event.job.id === id)

  describe('a wait', () => {
    it('JB-23 returns the terminal view, expires with the live one, and polls with 0', () =>
      world(async (inside) => {
        const { jobs, session } = inside
        const producer = inside.start()
        expect(await jobs.wait(producer.id, 0, session)).toMatchObject({ outcome: 'expired', job: { status: 'running' } })
        expect(await jobs.wait(producer.id, 5, session)).toMatchObject({ outcome: 'expired', job: { status: 'running' } })
        const waiting = jobs.wait(producer.id, 60_000, session)
        await producer.end({ status: 'completed', outcome: 'exit code: 1' })
        expect(await waiting).toMatchObject({ outcome: 'settled', job: { status: 'completed', detail: { outcome: 'exit code: 1' } } })
        expect(await jobs.wait(producer.id, 5, session)).toMatchObject({ outcome: 'settled' })
      }))

    it.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 2_147_483_648])('JB-24 of %d is refused', (ms) =>
      world(async (inside) => {
        await expect(inside.jobs.wait(inside.start().id, ms, inside.session)).rejects.toMatchObject({ code: 'JOB_TIMEOUT_INVALID' })
      }),
    )

    it('JB-25 is ended by its signal, and the job lives on', () =>
      world(async (inside) => {
        const { id } = inside.start()
        const controller = new AbortController()
        const waiting = inside.jobs.wait(id, 60_000, inside.session, controller.signal)
        controller.abort()
        await expect(waiting).rejects.toMatchObject({ code: 'JOB_WAIT_ABORTED' })
        await expect(inside.jobs.wait(id, 60_000, inside.session, controller.signal)).rejects.toMatchObject({ code: 'JOB_WAIT_ABORTED' })
        expect(inside.jobs.get(id, 'host').status).toBe('running')
      }))

    it('JB-26 of the owner makes the settlement awaited; an aborted one, in the same tick too, and one of the host do not', () =>
      world(async (inside) => {
        const { jobs, session } = inside
        const [owner, aborted, host] = [inside.start(), inside.start(), inside.start()]
        const controller = new AbortController()
        void jobs.wait(owner.id, 60_000, session)
        jobs.wait(aborted.id, 60_000, session, controller.signal).catch(() => undefined)
        void jobs.wait(host.id, 60_000, 'host')
        const ends = [owner, aborted, host].map((producer) => producer.end())
        controller.abort()
        await Promise.all(ends)
        const settlements = [owner, aborted, host].map(({ id }) => settlementOf(inside, id))
        expect(settlements).toMatchObject([
          { awaited: true, job: { notice: 'withheld' } },
          { awaited: false, job: { notice: 'due' } },
          { awaited: false, job: { notice: 'due' } },
        ])
      }))
  })

  describe('a hold', () => {
    it('JB-30 lasts until the call detaches; a job that settled while held is the call’s to report', () =>
      world(async (inside) => {
        const { jobs, session } = inside
        const [live, done] = [inside.start({ attachment: 'foreground' }), inside.start({ attachment: 'foreground' })]
        expect(jobs.detach(live.id, session)).toMatchObject({ status: 'running', attachment: 'detached' })
        await done.end()
        expect(settlementOf(inside, done.id)).toMatchObject({ awaited: true })
        expect(jobs.detach(done.id, session)).toMatchObject({ status: 'completed', notice: 'withheld' })
        expect(inside.told.filter((told) => told.startsWith('detached'))).toEqual([`detached ${live.id}`])
      }))

    it('JB-31 is ended by promote as if its wait had expired', () =>
      world(async (inside) => {
        const { jobs, session } = inside
        const { id } = inside.start({ attachment: 'foreground' })
        const waiting = jobs.wait(id, 60_000, session)
        expect(jobs.promote(id, 'host')).toBe('requested')
        expect(await waiting).toMatchObject({ outcome: 'expired' })
        jobs.detach(id, session)
        expect(jobs.promote(id, 'host')).toBe('not-foreground')
      }))

    it('JB-23 a wait is released when a stop exceeds its budget', () =>
      world(async (inside) => {
        const { id } = inside.start()
        const waiting = inside.jobs.wait(id, 60_000, inside.session)
        inside.jobs.kill(id, 'host', human)
        expect(await waiting).toMatchObject({ job: { status: 'failed', detail: { outcome: 'did not stop; work may be orphaned' } } })
      }))
  })
}
