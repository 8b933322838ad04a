import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Owner } from '../src/channel/owner.ts'
import { sweep } from '../src/channel/sweep.ts'

const self: Owner = { machine: 'm', boot: 'b', namespace: 'n', pid: 10, start: 1 }

function open() {
  const base = mkdtempSync(join(tmpdir(), 'sweep-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const make = (name: string, owner: object | string, mode = 0o700): string => {
    const path = join(base, name)
    mkdirSync(path)
    writeFileSync(join(path, 'owner.json'), typeof owner === 'string' ? owner : JSON.stringify(owner))
    writeFileSync(join(path, 'x.out'), 'output')
    chmodSync(path, mode)
    return path
  }
  const run = (alive: readonly number[] = []): Promise<string[]> =>
    sweep(base, { self, isAlive: (owner) => alive.includes(owner.pid), userId: process.getuid?.() })
  return { base, make, run }
}

it('SP-37 what a dead process of this boot left goes, what a live one has stays', async () => {
  const { make, run } = open()
  const [dead, live] = [make('tenon-dead', { ...self, pid: 11 }), make('tenon-live', { ...self, pid: 12 })]
  expect(await run([12])).toEqual([dead])
  expect([existsSync(dead), existsSync(live)]).toEqual([false, true])
})

it('SP-37 after a reboot everything of the earlier boot goes', async () => {
  const { make, run } = open()
  const old = make('tenon-old', { ...self, boot: 'earlier', pid: 12 })
  expect(await run([12])).toEqual([old])
})

it.each([
  ['another machine', { ...self, machine: 'other' }, 0o700],
  ['another namespace', { ...self, namespace: 'other' }, 0o700],
  ['an unknown boot', { machine: 'm', namespace: 'n', pid: 11 }, 0o700],
  ['no owner that could be read', 'half a rec', 0o700],
  ['no pid', { machine: 'm' }, 0o700],
  ['a directory open to others', self, 0o755],
])('SP-37 nothing is removed on a guess: %s', async (_what, owner, mode) => {
  const { make, run } = open()
  const path = make('tenon-x', owner, mode)
  expect(await run()).toEqual([])
  expect(existsSync(path)).toBe(true)
})

it('SP-37 other names, and links to elsewhere, are left alone', async () => {
  const { base, make, run } = open()
  const other = make('other', self)
  symlinkSync(other, join(base, 'tenon-link'))
  expect(await run()).toEqual([])
  expect(existsSync(other)).toBe(true)
})

it('SP-37 a base that is not there is no fault', async () => {
  expect(await sweep('/no/such/place', { self, isAlive: () => false, userId: 0 })).toEqual([])
})
