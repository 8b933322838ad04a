import { setTimeout as pause } from 'node:timers/promises'
import { collectGarbage } from '../measuring/child.ts'
import type { Finding } from '../measuring/report.ts'
import { pairedRatios, summarize } from '../measuring/statistics.ts'
import { Growing, Registry } from './registry.ts'

const ROUNDS = 15

/** @param part of the full size, for a trial */
export async function jobsFindings(part: number, tell: (section: string) => void): Promise<readonly Finding[]> {
  const of = (count: number): number => Math.max(10, Math.round(count * part))
  tell('calls')
  const calls = await callTimes(of(2_000))
  tell('heap after calls')
  const heap = await heapAfterCalls(of(10_000))
  tell('lists and kills')
  const { lists, kills } = await listsAndKills(of(1_000))
  tell('following')
  const following = await followTimes(of(2_000))
  tell('settled records')
  const records = await recordBytes(of(900))
  tell('idle jobs')
  const idle = await idleShare(of(10_000))
  return [
    promise('start, wait, settle and remove', calls, 'µs', 'under 150 µs', (median) => median < 150),
    promise('heap after 10,000 foreground calls', heap, 'MiB', 'under +2 MiB', (median) => median < 2),
    promise('list of 1,000 live jobs', lists, 'ms', 'under 2 ms', (median) => median < 2),
    promise('kill among 1,000, of one among 10', kills, 'x', 'at most 1.2x', (median) => median <= 1.2),
    promise("from a reader's change to the item, p99", following, 'ms', 'under 2 ms', (median) => median < 2),
    promise('settled record beside its readers', records, 'bytes', 'under 2,048', (median) => median < 2_048),
    promise('20 idle followed jobs, of one processor', idle, '%', 'under 0.1 %', (median) => median < 0.1),
  ]
}

function promise(what: string, sample: readonly number[], unit: string, text: string, isKept: (median: number) => boolean): Finding {
  const measured = summarize(sample)
  return { what, measured, unit, target: { text, met: isKept(measured.median) } }
}

async function rounds(work: (round: number) => Promise<number> | number): Promise<number[]> {
  const sample: number[] = []
  for (let round = 0; round < ROUNDS; round++) sample.push(await work(round))
  return sample
}

async function callTimes(count: number): Promise<number[]> {
  await using registry = await Registry.open()
  for (let n = 0; n < count; n++) await registry.call()
  return await rounds(async () => {
    const times: number[] = []
    for (let n = 0; n < count; n++) times.push(await microseconds(() => registry.call()))
    return summarize(times).median
  })
}

async function heapAfterCalls(count: number): Promise<number[]> {
  await using registry = await Registry.open()
  for (let n = 0; n < count; n++) await registry.call()
  const before = heapBytes()
  for (let n = 0; n < count; n++) await registry.call()
  return [(heapBytes() - before) / 2 ** 20]
}

/** The same kills, one after the other, with so many others around: what a round among many costs is compared with one among few. */
async function listsAndKills(many: number): Promise<{ lists: number[]; kills: number[] }> {
  await using registry = await Registry.open()
  const { jobs, session } = registry
  const killTen = async (): Promise<number> => {
    const times: number[] = []
    for (let n = 0; n < 20; n++) {
      const ten = registry.many(10)
      for (const { id } of ten) times.push(await microseconds(() => jobs.kill(id, session, { by: 'human', text: 'x' })))
      await registry.clear(ten)
    }
    return summarize(times).median
  }
  for (let n = 0; n < 20; n++) await killTen()
  const few = await rounds(killTen)
  const others = registry.many(many)
  const list = async (): Promise<number> => (await microseconds(() => jobs.list(session))) / 1_000
  const lists = await rounds(async () => {
    const times: number[] = []
    for (let n = 0; n < 20; n++) times.push(await list())
    return summarize(times).median
  })
  await killTen()
  const among = await rounds(killTen)
  await registry.clear(others)
  return { lists, kills: pairedRatios(among, few) }
}

async function followTimes(count: number): Promise<number[]> {
  await using registry = await Registry.open()
  return await rounds(async () => {
    const stdout = new Growing()
    const work = registry.start('detached', stdout)
    const items = registry.jobs.follow(work.id, { caller: 'host' })[Symbol.asyncIterator]()
    await items.next()
    const times: number[] = []
    for (let n = 0; n < count; n++) {
      const next = items.next()
      await Promise.resolve()
      times.push(
        await microseconds(() => {
          stdout.grow()
          return next
        }),
      )
    }
    await items.return?.()
    await registry.clear([work])
    return (times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0) / 1_000
  })
}

async function recordBytes(count: number): Promise<number[]> {
  await using registry = await Registry.open()
  // What is compiled and allocated once is no cost of a record.
  await registry.clear(registry.many(count))
  await pause(0)
  const before = heapBytes()
  await registry.settle(registry.many(count))
  await pause(0)
  return [(heapBytes() - before) / count]
}

async function idleShare(ms: number): Promise<number[]> {
  await using registry = await Registry.open()
  const works = registry.many(20)
  const followers = works.map(({ id }) => registry.jobs.follow(id, { caller: 'host' })[Symbol.asyncIterator]())
  for (const follower of followers) await follower.next()
  for (const follower of followers) void follower.next()
  await pause(100)
  const before = process.cpuUsage()
  await pause(ms)
  const { user, system } = process.cpuUsage(before)
  for (const follower of followers) await follower.return?.()
  await registry.clear(works)
  return [((user + system) / 1_000 / ms) * 100]
}

async function microseconds(work: () => unknown): Promise<number> {
  const began = performance.now()
  const returned = work()
  if (returned instanceof Promise) await returned
  return (performance.now() - began) * 1_000
}

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
