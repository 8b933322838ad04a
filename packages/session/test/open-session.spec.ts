import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Scope } from '@tenon/kernel'
import { openSession, SessionError } from '@tenon/session'
import { describe, expect, it } from 'vitest'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('openSession', () => {
  it('JB-01 a session is live until its scope closes, and closes with its host', async () => {
    const host = new Scope('host')
    const one = openSession(host, { id: 'one', cwd: '/srv' })
    const two = openSession(host, { id: 'two', cwd: '/srv' })
    expect(one).toMatchObject({ id: 'one', cwd: '/srv' })
    expect(one.scope.signal.aborted).toBe(false)

    await one.scope.close()
    expect(one.scope.signal.aborted).toBe(true)
    expect(two.scope.signal.aborted).toBe(false)

    await host.close()
    expect(two.scope.signal.aborted).toBe(true)
    expect(() => openSession(host, { id: 'three', cwd: '/srv' })).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
  })

  it('JB-01 a thousand sessions opened and closed leave nothing on their host', async () => {
    const host = new Scope('host')
    const openAndClose = async (id: string): Promise<WeakRef<Scope>> => {
      const { scope } = openSession(host, { id, cwd: '/' })
      await scope.close()
      return new WeakRef(scope)
    }
    const gone: WeakRef<Scope>[] = []
    for (let n = 0; n < 1000; n++) gone.push(await openAndClose(`s${n}`))
    // A WeakRef that was just made, or looked at, is held until the job ends.
    const left = (): number => {
      collectGarbage()
      return gone.filter((ref) => ref.deref() !== undefined).length
    }
    await expect.poll(left).toBe(0)
    await host.close()
  })

  it('two sessions may have one id and stay two', async () => {
    await using host = new Scope('host')
    expect(openSession(host, { id: 'same', cwd: '/a' })).not.toBe(openSession(host, { id: 'same', cwd: '/a' }))
  })

  it.each([
    ['', '/'],
    ['x'.repeat(129), '/'],
    ['a\0b', '/'],
    ['a\nb', '/'],
    ['ok', 'relative'],
    ['ok', ''],
    ['ok', '/a\0b'],
  ])('refuses the id %j with the directory %j without opening a scope', (id, cwd) => {
    const host = new Scope('host')
    expect(() => openSession(host, { id, cwd })).toThrow(SessionError)
  })

  it('counts characters, not code units', async () => {
    await using host = new Scope('host')
    expect(openSession(host, { id: '🦀'.repeat(128), cwd: '/' }).id).toHaveLength(256)
  })

  it('gives notices to the host that asked for them, and to the queue otherwise', async () => {
    await using host = new Scope('host')
    const seen: string[] = []
    const notice = { source: 'jobs', text: 'done', summary: 'done' }
    const direct = openSession(host, {
      id: 'direct',
      cwd: '/',
      deliver: ({ text }) => {
        seen.push(text)
        return 'delivered'
      },
    })
    expect(direct.deliver(notice)).toBe('delivered')
    expect(seen).toEqual(['done'])
    expect(direct.notices.drain()).toEqual([])

    const queued = openSession(host, { id: 'queued', cwd: '/' })
    expect(queued.deliver(notice)).toBe('queued')
    expect(queued.notices.drain()).toEqual([notice])
  })
})
