import { describe, expect, it } from 'vitest'
import { codeOf, human, type World } from './world.ts'

export function describeSessions(world: World): void {
  describe('a session', () => {
    it('JB-02 reaches its own jobs only, by its identity, not by its id', () =>
      world(async (inside) => {
        const { jobs } = inside
        const { id } = inside.start()
        const twin = inside.open('one')
        expect(jobs.list(twin)).toEqual([])
        const verbs = [() => jobs.get(id, twin), () => jobs.kill(id, twin, human), () => jobs.read(id, twin), () => jobs.remove(id, twin)]
        for (const verb of verbs) expect(codeOf(verb)).toBe('JOB_FOREIGN')
        await expect(jobs.wait(id, 0, twin)).rejects.toMatchObject({ code: 'JOB_FOREIGN' })
        for (const odd of ['', '__proto__', `${id}\0`]) expect(codeOf(() => jobs.get(odd, 'host'))).toBe('JOB_UNKNOWN')
      }))

    it('JB-47 removes its settled jobs, and no live one', () =>
      world(async (inside) => {
        const [done, live] = [inside.start(), inside.start()]
        await done.end()
        inside.jobs.remove(done.id, inside.session)
        expect(codeOf(() => inside.jobs.remove(live.id, inside.session))).toBe('JOB_RUNNING')
        expect(inside.jobs.list(inside.session).map(({ id }) => id)).toEqual([live.id])
      }))

    it('JB-50 takes its jobs with it: cancelled, awaited, removed, without a notice', () =>
      world(async (inside) => {
        const other = inside.start({ owner: inside.open('two') })
        const producer = inside.start()
        const closing = inside.session.scope.close()
        expect(producer.cancels).toMatchObject([{ by: 'host', text: 'session closed' }])
        await producer.end({ status: 'killed' })
        await closing
        const { id } = producer
        expect(inside.told.slice(2)).toEqual([`stopping ${id}`, `settled ${id}`, `removed ${id}`])
        expect(inside.events.find(({ type }) => type === 'settled')).toMatchObject({ cause: 'teardown', awaited: false })
        expect([inside.jobs.dueNotices(), inside.jobs.get(other.id, 'host').status]).toEqual([[], 'running'])
      }))
  })
}
