import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Jobs } from '@tenon/jobs'
import { Kernel, type Plugin } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import shellEnv from '@tenon/plugin-shell-env'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolBash from '@tenon/plugin-tool-bash'
import toolJobs from '@tenon/plugin-tool-jobs'
import toolsPlugin from '@tenon/plugin-tools'
import { openSession, type Session } from '@tenon/session'
import { Shell } from '@tenon/shell'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { outputMatches, startCommand } from './shell-job.ts'

const WITHOUT_REGISTRY: readonly Plugin[] = [localSubprocess, localBash, shellEnv, toolsPlugin, systemPrompt, toolBash] as readonly Plugin[]
const ROWS: readonly Plugin[] = [...WITHOUT_REGISTRY, jobsPlugin, toolJobs] as readonly Plugin[]

let kernel: Kernel
let session: Session
let directory: string
const open = async (rows: readonly Plugin[]) => {
  await Promise.all(rows.map((plugin) => kernel.load(plugin, {}).ready()))
  session = openSession(kernel.scope, { id: 'one', cwd: directory })
}
beforeEach(async () => {
  kernel = new Kernel()
  directory = await mkdtemp(join(tmpdir(), 'tenon-jobs-'))
})
afterEach(async () => {
  await kernel.close()
  await rm(directory, { recursive: true, force: true })
})

const jobs = () => kernel.get(Jobs) as Jobs
const start = (command: string) => startCommand(jobs(), kernel.get(Shell) as Shell, session, command)

describe('a job on real rows', () => {
  it('JB-54 runs on under its id and pid, readable, while each row in turn is reloaded', async () => {
    await open(ROWS)
    const { id } = await start('echo "pid $$"; n=0; while [ ! -e stop ]; do n=$((n+1)); echo $n; sleep 0.01; done')
    const [, pid] = /^pid (\d+)\n/.exec(await outputMatches(jobs(), id, /^pid \d+\n1\n/)) ?? []
    let read = ''
    const readOn = () => {
      for (const { text } of jobs().read(id, session).chunks) read += text
    }
    for (const plugin of ROWS) {
      await kernel.row(plugin.name)?.replace(plugin)
      await kernel.settled()
      readOn()
      expect(jobs().get(id, 'host').status).toBe('running')
      const seen = Number(/(\d+)\n$/.exec(read)?.[1])
      await outputMatches(jobs(), id, new RegExp(`^${seen + 2}$`, 'm'))
      expect(() => process.kill(Number(pid), 0)).not.toThrow()
    }
    await writeFile(join(directory, 'stop'), '')
    expect(await jobs().wait(id, 10_000, session)).toMatchObject({ outcome: 'settled', job: { id, detail: { outcome: 'exit code: 0' } } })
    readOn()
    const lines = read.trimEnd().split('\n')
    expect(lines).toEqual([`pid ${pid}`, ...lines.slice(1).map((_, n) => String(n + 1))])
    expect(lines.length).toBeGreaterThan(ROWS.length * 2)
  })

  it('JB-23 waiters are released after a kill, and after a `kill -9` from outside', async () => {
    await open(ROWS)
    const [killed, shot] = [await start('sleep 60'), await start('echo "pid $$"; sleep 60')]
    const waits = [killed, shot].map(({ id }) => jobs().wait(id, 30_000, session))
    const [, pid] = /^pid (\d+)/.exec(await outputMatches(jobs(), shot.id, /^pid \d+\n/)) ?? []
    jobs().kill(killed.id, session, { by: 'human', text: 'cancelled by the user' })
    process.kill(Number(pid), 'SIGKILL')
    expect((await Promise.all(waits)).map(({ job }) => [job.status, job.detail.outcome])).toEqual([
      ['killed', 'signal: SIGTERM; cancelled by the user'],
      ['killed', 'signal: SIGKILL'],
    ])
  })

  it('JB-46 a stopped job takes nothing of another that runs the same command', async () => {
    await open(ROWS)
    const [one, two] = [await start('echo up; sleep 60; true'), await start('echo up; sleep 60; true')]
    for (const { id } of [one, two]) await outputMatches(jobs(), id, /up/)
    jobs().kill(one.id, session, { by: 'human', text: 'x' })
    await jobs().wait(one.id, 10_000, session)
    expect(jobs().get(two.id, session).status).toBe('running')
    expect(await two.execution.survivors()).toBe(1)
  })

  it('JB-32 pages of bytes that are no text add up to what they decode to, and the last lines are found among them', async () => {
    await open(ROWS)
    // Every second byte is printable, the others are anything; the same in each run.
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, n) => (n % 50 === 49 ? 10 : n % 2 === 0 ? (n * 7919) % 256 : 97 + (n % 26))))
    await writeFile(join(directory, 'bytes'), bytes)
    const { id } = await start('cat bytes')
    await jobs().wait(id, 30_000, session)
    for (const maxBytes of [16, 100, 4_000]) {
      let [text, offsets, left] = ['', {} as Record<string, number>, 1]
      while (left > 0) {
        const page = jobs().readAt(id, offsets, session, maxBytes)
        const said = page.chunks.map((chunk) => chunk.text).join('')
        expect(Buffer.byteLength(said)).toBeLessThanOrEqual(maxBytes)
        text += said
        offsets = page.next
        left = page.unread
      }
      expect(text).toBe(bytes.toString('utf8'))
    }
    const lines = bytes.subarray(0, -1).lastIndexOf(10, -102) + 1
    const tail = jobs().read(id, session, { tailLines: bytes.subarray(lines).filter((byte) => byte === 10).length })
    expect(tail.chunks).toMatchObject([{ at: lines, text: bytes.subarray(lines).toString('utf8') }])
    expect(tail.skipped).toBe(lines)
  })

  it('JB-50 ends with its session, tree and all', async () => {
    await open(ROWS)
    const { id, execution } = await start('sleep 60 & echo up; wait')
    await outputMatches(jobs(), id, /up/)
    await session.scope.close()
    expect([execution.status, jobs().list('host')]).toEqual(['killed', []])
    // They were asked to end together; on a busy machine one may be the later.
    await expect.poll(() => execution.survivors()).toBe(0)
  })
})

describe('a composition without a registry', () => {
  it('JB-75 promises no notice and names no job tool anywhere', async () => {
    await open(WITHOUT_REGISTRY)
    const words = () => JSON.stringify([kernel.get(Tools)?.view().tools])
    const prompt = async () => (await kernel.get(SystemPrompt)?.assemble(session))?.text ?? ''
    const telltale = /job|notif|background/i
    expect(words()).toContain('"name":"bash"')
    expect([telltale.exec(words())?.[0], telltale.exec(await prompt())?.[0]]).toEqual([undefined, undefined])
    await Promise.all([kernel.load(jobsPlugin as Plugin, {}).ready(), kernel.load(toolJobs as Plugin, {}).ready()])
    expect(words()).toMatch(/job_output/)
    expect(await prompt()).toMatch(/job_list/)
    await kernel.row('jobs')?.unload()
    await kernel.settled()
    expect([telltale.exec(words())?.[0], telltale.exec(await prompt())?.[0]]).toEqual([undefined, undefined])
  })
})
