import { describe, expect, it } from 'vitest'
import type { JobSpec } from '../index.ts'
import { Producer } from './producer.ts'
import { codeOf, type World } from './world.ts'

export function describeStarts(world: World): void {
  describe('a start', () => {
    it('JB-04 needs a controller that serves the owner', () =>
      world(async (inside) => {
        const { jobs, session } = inside
        const start = () => codeOf(() => jobs.start(new Producer().spec(session, { stopBudgetMs: 20 })))
        await inside.controller.close()
        expect(start()).toBe('JOB_NO_CONTROLLER')
        jobs.attachController(inside.host, { name: 'picky', serves: (owner) => owner !== session })
        expect(start()).toBe('JOB_NO_CONTROLLER')
        jobs.attachController(inside.host, { name: 'all' })
        expect(start()).toBe('not refused')
      }))

    it('JB-04 whoever depends on a controller hears of the first that comes and the last that leaves', () =>
      world(async (inside) => {
        const { jobs, host } = inside
        const told: string[] = []
        const follower = host.child('follower')
        jobs.whileControlled(follower, (branch) => {
          told.push('on')
          branch.defer(() => void told.push('off'))
        })
        expect(told).toEqual(['on'])
        const second = host.child('second')
        jobs.attachController(second, { name: 'second' })
        await inside.controller.close()
        expect(told).toEqual(['on'])
        await second.close()
        expect(told).toEqual(['on', 'off'])
        jobs.attachController(host, { name: 'third' })
        expect(told).toEqual(['on', 'off', 'on'])
        await follower.close()
        expect(told).toEqual(['on', 'off', 'on', 'off'])
        jobs.attachController(host, { name: 'fourth' })
        expect(told).toHaveLength(4)
      }))

    it.each<Partial<JobSpec>>([
      { kind: '' },
      { kind: 'Bash' },
      { label: ' \n' },
      { replyLimitBytes: 255 },
      { replyLimitBytes: 1_000_001 },
      { stopBudgetMs: 0 },
      { stopBudgetMs: 2_147_483_648 },
    ])('JB-05 is refused by the name of the field: %j', (change) =>
      world((inside) => {
        const [field] = Object.keys(change)
        expect(() => inside.start(change)).toThrow(
          expect.objectContaining({ code: 'JOB_SPEC_INVALID', message: expect.stringContaining(`invalid job ${field}: `) }),
        )
      }),
    )

    it('JB-06 that is refused calls nothing, announces nothing and burns no number', () =>
      world(async (inside) => {
        let ran = false
        const run: JobSpec['run'] = () => {
          ran = true
          throw new Error('no')
        }
        const closed = inside.open('closed')
        await closed.scope.close()
        expect(codeOf(() => inside.start({ owner: closed, run }))).toBe('JOB_SESSION_CLOSED')
        expect([ran, inside.events]).toEqual([false, []])
        expect(inside.start().id).toBe('test-1')
      }))

    it('JB-07 ids count per kind and are not used again', () =>
      world(async (inside) => {
        const one = inside.start({ kind: 'a' })
        await one.end()
        inside.jobs.remove(one.id, inside.session)
        expect([one.id, inside.start({ kind: 'a' }).id, inside.start({ kind: 'b' }).id]).toEqual(['a-1', 'a-2', 'b-1'])
      }))

    it('JB-08 throws what run() throws, and there is no job', () =>
      world((inside) => {
        const thrown = new Error('no')
        const run = () => {
          throw thrown
        }
        expect(() => inside.start({ run })).toThrow(thrown)
        expect([inside.jobs.list('host'), inside.events]).toEqual([[], []])
      }))

    it('JB-22 keeps the first line that is not blank as the label', () =>
      world((inside) => {
        const { id } = inside.start({ label: `\n  make\tall\nrest`, detail: { command: 'all' } })
        expect(inside.jobs.get(id, inside.session)).toMatchObject({
          label: 'make all',
          detail: { command: 'all' },
          status: 'running',
          owner: 'one',
          notice: 'none',
        })
      }))
  })
}
