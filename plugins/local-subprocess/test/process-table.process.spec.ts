import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cookieIn, LinuxTable, parseStat } from '../src/tree/linux-table.ts'
import { ListedTable, posixLister, windowsLister } from '../src/tree/listed-table.ts'

function stat(pid: number, name: string, state: string, threads = 1, start = 5): string {
  const rest = Array.from({ length: 30 }, () => 0)
  return `${pid} (${name}) ${state} 7 8 9 ${rest.slice(0, 13).join(' ')} ${threads} 0 ${start} ${rest.join(' ')}\n`
}

describe('the table in /proc', () => {
  it.each(['sh', 'a) Z 1 2 3', '((', 'two words', ''])('reads a process whose name is %j', (name) => {
    expect(parseStat(4, stat(4, name, 'S'))).toEqual({ pid: 4, parent: 7, group: 8, session: 9, start: 5, zombie: false })
  })

  it('a zombie counts as gone, unless threads of it live on', () => {
    expect([parseStat(4, stat(4, 'x', 'Z'))?.zombie, parseStat(4, stat(4, 'x', 'Z', 3))?.zombie, parseStat(4, stat(4, 'x', 'X'))?.zombie]).toEqual([
      true,
      false,
      true,
    ])
    expect(parseStat(4, 'nonsense')).toBeUndefined()
  })

  it.each([
    ['TENON_PROCESS=a.1\0B=2\0', 'a.1'],
    ['A=1\0TENON_PROCESS=a.1', 'a.1'],
    ['XTENON_PROCESS=no\0TENON_PROCESS=a.1\0', 'a.1'],
    ['XTENON_PROCESS=no\0A=TENON_PROCESS=no\0', undefined],
    ['TENON_PROCESS=\0', ''],
    ['', undefined],
  ])('finds the cookie in %j', (environment, cookie) => {
    expect(cookieIn(Buffer.from(environment), Buffer.from(`${COOKIE_VARIABLE}=`))).toBe(cookie)
  })

  it('knows this very process, and the environment of a child as it began', async () => {
    const table = new LinuxTable(COOKIE_VARIABLE)
    const child = spawn('sleep', ['60'], { env: { PATH: process.env.PATH, PADDING: 'x'.repeat(100_000), TENON_PROCESS: 'n.1' }, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const snapshot = await table.snapshot()
    const entry = snapshot?.entries.get(child.pid ?? 0)
    expect(entry).toMatchObject({ parent: process.pid, zombie: false })
    expect(Math.abs((entry?.start ?? 0) - table.now())).toBeLessThan(500)
    expect(entry && snapshot?.cookie(entry)).toBe('n.1')
    expect(entry && table.confirm(entry)).toBe(true)
    expect(entry && table.confirm({ ...entry, start: entry.start - 1 })).toBe(false)
    expect(table.snapshotSync()?.entries.has(process.pid)).toBe(true)
  })

  it('LN-03 SP-42 a process seen between fork and exec, with the environment of whoever forked it, is seen for what it is later', async () => {
    const root = mkdtempSync(join(tmpdir(), 'proc-test-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const outer = process.env[COOKIE_VARIABLE]
    onTestFinished(() => {
      if (outer === undefined) delete process.env[COOKIE_VARIABLE]
      else process.env[COOKIE_VARIABLE] = outer
    })
    const write = (environment: string): void => writeFileSync(join(root, '7', 'environ'), environment)
    mkdirSync(join(root, '7'))
    for (const inherited of [undefined, 'outer.1']) {
      if (inherited === undefined) delete process.env[COOKIE_VARIABLE]
      else process.env[COOKIE_VARIABLE] = inherited
      const table = new LinuxTable(COOKIE_VARIABLE, root)
      const seen = async () => {
        const snapshot = await table.snapshot()
        const entry = snapshot?.entries.get(7)
        return [entry && snapshot?.cookie(entry), snapshot?.unsettled]
      }
      writeFileSync(join(root, '7', 'stat'), stat(7, 'node', 'S', 1, table.now()))
      write(`A=1\0${inherited === undefined ? '' : `TENON_PROCESS=${inherited}\0`}`)
      expect(await seen()).toEqual([inherited, true])
      write('')
      expect(await seen()).toEqual([undefined, true])
      write('TENON_PROCESS=n.1\0')
      expect(await seen()).toEqual(['n.1', false])
      // From here on it is known, whatever the file says.
      write('')
      expect(await seen()).toEqual(['n.1', false])
      // What is there for long has executed its program.
      write('A=1\0')
      writeFileSync(join(root, '7', 'stat'), stat(7, 'node', 'S', 1, table.now() - 1_000))
      expect(await seen()).toEqual([undefined, false])
    }
  })

  it('a table that is not there cannot be read', async () => {
    const table = new LinuxTable(COOKIE_VARIABLE, '/nowhere')
    expect([await table.snapshot(), table.snapshotSync()]).toEqual([undefined, undefined])
  })

  it('SP-45 without a descriptor to look with, the table is unreadable: nobody in it counts as gone', async () => {
    const none = {
      lend(): never {
        throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
      },
    }
    const table = new LinuxTable(COOKIE_VARIABLE, '/proc', none)
    const self = new LinuxTable(COOKIE_VARIABLE).read(process.pid)
    expect([await table.snapshot(), table.snapshotSync(), table.read(process.pid)]).toEqual([undefined, undefined, undefined])
    expect(self && table.confirm(self)).toBe(false)
  })

  it('SP-55 a scan of 2,000 processes never blocks the event loop for more than 5 ms', async () => {
    const root = mkdtempSync(join(tmpdir(), 'proc-test-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    for (let pid = 1; pid <= 2_000; pid++) {
      mkdirSync(join(root, String(pid)))
      writeFileSync(join(root, String(pid), 'stat'), stat(pid, 'sleep', 'S'))
      writeFileSync(join(root, String(pid), 'environ'), `PATH=/bin\0PADDING=${'x'.repeat(2_000)}\0TENON_PROCESS=n.${pid}\0`)
    }
    // Processor time of this thread in each turn of the loop: what others do on this machine does not count.
    const spent = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
    const longest: number[] = []
    for (let attempt = 0; attempt < 10 && !longest.some((ms) => ms < 5); attempt++) {
      const table = new LinuxTable(COOKIE_VARIABLE, root)
      let most = 0
      let turns = 0
      let last = spent()
      let scanning = true
      const turn = (): void => {
        const now = spent()
        most = Math.max(most, now - last)
        last = now
        turns++
        if (scanning) setImmediate(turn)
      }
      setImmediate(turn)
      const [first, second] = [await table.snapshot(), await table.snapshot()]
      scanning = false
      longest.push(most)
      expect(turns).toBeGreaterThan(5)
      expect(first?.entries.size).toBe(2_000)
      const entry = second?.entries.get(1_999)
      expect(entry && second?.cookie(entry)).toBe('n.1999')
    }
    expect(Math.min(...longest)).toBeLessThan(5)
  })
})

describe('tables that a program lists', () => {
  const line = '  501     1   501 Ss   Mon Nov 30 15:29:38 2026'

  it('reads the ps of macOS', () => {
    const lister = posixLister(() => 1_500)
    const [first, zombie] = lister.parse(`${line}\n  502   501   501 Z+   Tue Dec  1 01:02:03 2026    \ngarbage\n`)
    expect(first).toMatchObject({ pid: 501, parent: 1, group: 501, zombie: false, start: Date.parse('Mon Nov 30 15:29:38 2026') / 1_000 })
    expect(zombie).toMatchObject({ pid: 502, parent: 501, group: 501, zombie: true })
    expect(lister.now()).toBe(1)
  })

  it('the ps of this machine takes the same arguments and tells the same as /proc', () => {
    const lister = posixLister(Date.now)
    const listed = lister.parse(execFileSync(lister.file, [...lister.args], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } }))
    const own = listed.find(({ pid }) => pid === process.pid)
    expect(own).toMatchObject({ parent: process.ppid, group: new LinuxTable(COOKIE_VARIABLE).read(process.pid)?.group })
    expect(Math.abs((own?.start ?? 0) - (lister.now() - process.uptime()))).toBeLessThan(5)
  })

  it('reads the list of Windows', () => {
    expect(windowsLister(Date.now).parse('4 0 1700000000000\r\n800 4 1700000000123\r\nnoise\r\n')).toEqual([
      { pid: 4, parent: 0, group: -1, session: -1, start: 1_700_000_000_000, zombie: false },
      { pid: 800, parent: 4, group: -1, session: -1, start: 1_700_000_000_123, zombie: false },
    ])
  })

  it('a listing vouches for a process for a quarter of a second', async () => {
    let now = 0
    const output = `${line}\n`
    const table = new ListedTable(
      posixLister(Date.now),
      async () => output,
      () => output,
      () => now,
    )
    const entry = (await table.snapshot())?.entries.get(501)
    if (entry === undefined) throw new Error('not listed')
    now = 250
    expect(table.confirm(entry)).toBe(true)
    expect(table.confirm({ ...entry, start: entry.start + 1 })).toBe(false)
    now = 251
    expect(table.confirm(entry)).toBe(false)
  })

  it('a lister that fails, or that cannot be understood, makes the table unreadable', async () => {
    const fail = (): never => {
      throw new Error('ENOENT')
    }
    const broken = new ListedTable(
      posixLister(Date.now),
      async () => fail(),
      fail,
      () => 0,
    )
    const odd = new ListedTable(
      posixLister(Date.now),
      async () => 'PID COMMAND\n',
      () => '',
      () => 0,
    )
    expect([await broken.snapshot(), broken.snapshotSync(), await odd.snapshot(), odd.snapshotSync()]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
