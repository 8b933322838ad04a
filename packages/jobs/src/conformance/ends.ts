import { describe, expect, it } from 'vitest'
import { codeOf, human, model, type World } from './world.ts'

export function describeEnds(world: World): void {
  describe('an end', () => {
    it('JB-14 is the first outcome, and no later one', () =>
      world(async (inside) => {
        const producer = inside.start()
        inside.jobs.kill(producer.id, 'host', human)
        await inside.jobs.wait(producer.id, 60_000, 'host')
        await producer.end()
        expect(inside.jobs.get(producer.id, 'host').status).toBe('failed')
        expect(inside.told.filter((told) => told.startsWith('settled'))).toHaveLength(1)
      }))

    it('JB-15 of a rejected done is a failure with its message', () =>
      world(async (inside) => {
        const [error, odd] = [inside.start(), inside.start()]
        await error.fail(new Error('no disk'))
        await odd.fail(undefined)
        expect(inside.jobs.get(error.id, 'host')).toMatchObject({ status: 'failed', detail: { outcome: 'no disk' } })
        expect(inside.jobs.get(odd.id, 'host').status).toBe('failed')
      }))

    it('JB-17 registered is the first event, removed the last, and each has its changed before it', () =>
      world(async (inside) => {
        const producer = inside.start({ attachment: 'foreground' })
        inside.jobs.detach(producer.id, inside.session)
        inside.jobs.kill(producer.id, 'host', human)
        await producer.end({ status: 'killed' })
        inside.jobs.remove(producer.id, inside.session)
        const types = ['registered', 'detached', 'stopping', 'settled', 'removed'].flatMap((type) => ['changed', type])
        expect(inside.events.map(({ type }) => type)).toEqual(types)
      }))

    it('JB-20 of a killed job ends with the reason, and has its cause', () =>
      world(async (inside) => {
        const [killed, plain] = [inside.start(), inside.start()]
        inside.jobs.kill(killed.id, 'host', human)
        await killed.end({ status: 'killed', outcome: 'signal: SIGTERM' })
        await plain.end()
        expect(inside.events.filter(({ type }) => type === 'settled')).toMatchObject([
          { cause: 'kill', job: { detail: { outcome: 'signal: SIGTERM; cancelled by the user' }, stop: human } },
          { cause: 'producer', job: { detail: { outcome: 'exit code: 0' } } },
        ])
      }))

    it('JB-20 how a program ended stands beside the words, as facts', () =>
      world(async (inside) => {
        const [exited, died, trapped] = [inside.start(), inside.start(), inside.start()]
        inside.jobs.kill(trapped.id, 'host', human)
        await exited.end({ status: 'completed', outcome: 'exit code: 3', exitCode: 3 })
        await died.end({ status: 'killed', outcome: 'signal: SIGKILL', signal: 'SIGKILL' })
        await trapped.end({ status: 'killed', outcome: 'killed before exit', exitCode: 0 })
        const detailOf = ({ id }: { readonly id: string }) => inside.jobs.get(id, inside.session).detail
        expect(detailOf(exited)).toEqual({ outcome: 'exit code: 3', exitCode: 3 })
        expect(detailOf(died)).toEqual({ outcome: 'signal: SIGKILL', signal: 'SIGKILL' })
        expect(detailOf(trapped)).toEqual({ outcome: 'killed before exit; cancelled by the user', exitCode: 0 })
      }))
  })

  describe('a kill', () => {
    it('JB-43 cancels once, with the first reason', () =>
      world(async (inside) => {
        const producer = inside.start()
        expect([inside.jobs.kill(producer.id, inside.session, model), inside.jobs.kill(producer.id, 'host', human)]).toEqual([
          'requested',
          'requested',
        ])
        expect(producer.cancels).toEqual([model])
        expect(inside.jobs.get(producer.id, 'host')).toMatchObject({ status: 'stopping', stop: model })
        await producer.end({ status: 'killed' })
        expect(inside.jobs.kill(producer.id, 'host', human)).toBe('already-finished')
      }))

    it('JB-44 that is refused changes nothing and may be tried again', () =>
      world((inside) => {
        const producer = inside.start()
        producer.refusal = new Error('busy')
        expect(codeOf(() => inside.jobs.kill(producer.id, 'host', human))).toBe('JOB_CANCEL_FAILED')
        expect(inside.jobs.get(producer.id, 'host').status).toBe('running')
        producer.refusal = undefined
        expect(inside.jobs.kill(producer.id, 'host', human)).toBe('requested')
      }))
  })

  describe('a notice', () => {
    it('JB-71 is due unless the end was awaited or the model asked for it, and is claimed once', () =>
      world(async (inside) => {
        const { jobs } = inside
        const [due, byModel, read] = [inside.start(), inside.start(), inside.start()]
        jobs.kill(byModel.id, inside.session, model)
        for (const producer of [due, byModel, read]) await producer.end({ status: 'killed' })
        jobs.read(read.id, inside.session)
        expect(jobs.dueNotices().map(({ id }) => id)).toEqual([due.id])
        expect(jobs.ownerOf(due.id)).toBe(inside.session)
        expect([jobs.claimNotice(due.id), jobs.claimNotice(due.id)]).toEqual([true, false])
        expect([due, byModel, read].map(({ id }) => jobs.get(id, 'host').notice)).toEqual(['sent', 'withheld', 'withheld'])
      }))
  })
}
