import { expect, it, onTestFinished } from 'vitest'
import { Connection } from '../src/connection.ts'
import { SharedSession } from '../src/shared-session.ts'

const notice = { source: 'test', text: 'due', summary: 'due' }

/** A session with two connections. */
function shared() {
  const session = new SharedSession('together', '/')
  const [one, two] = [new Connection('one', '/elsewhere', session), new Connection('two', '/', session)]
  onTestFinished(() => session.close())
  return { session, one, two }
}

it('CP-14 connections that share a session are one owner, with the directory of the first', () => {
  const { one, session, two } = shared()
  expect(one.session).toBe(two.session)
  expect(one.session).toBe(session.session)
  expect(one.session.cwd).toBe('/')
})

it('CP-14 a shared session outlives its connections, and its notices wait for whoever comes', async () => {
  const { one, session, two } = shared()
  await Promise.all([one.close(), two.close()])
  expect(session.session.scope.closed).toBe(false)
  expect(session.session.deliver(notice)).toBe('queued')
  const three = new Connection('three', '/', session)
  expect(three.session.notices.drain()).toMatchObject([{ text: 'due' }])
  expect(three.session.notices.drain()).toEqual([])
})

it('CP-14 a shared session that nobody joins any more ends with its last connection', async () => {
  const { one, session, two } = shared()
  await session.retire()
  await one.close()
  expect(session.session.scope.closed).toBe(false)
  await two.close()
  expect(session.session.scope.closed).toBe(true)
  const empty = new SharedSession('empty', '/')
  await empty.retire()
  expect(empty.session.scope.closed).toBe(true)
})
