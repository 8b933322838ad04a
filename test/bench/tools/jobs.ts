import type { JobId, JobOutcome, JobSpec, Jobs } from '@tenon/jobs'
import type { Session } from '@tenon/session'
import { asReader, ScriptedReader } from '../../shell-tool/scripted-reader.ts'
import { summarize } from '../measuring/statistics.ts'
import { instantShell, withBash, withJobs } from './compositions.ts'
import { heapBytes, leftByCalls, perCall } from './rounds.ts'

/** Microseconds of an instant command, bare and as a job that is started, waited for and removed. */
export async function overBareExecute(rounds: number, calls: number): Promise<Record<string, number[]>> {
  const composition = await withJobs()
  const { jobs, session } = composition
  const shell = instantShell()
  const execute = () => shell.execute(shell.resolve({ command: 'true', workdir: '/' }))
  const spec: JobSpec = {
    kind: 'bash',
    label: 'true',
    owner: session,
    attachment: 'foreground',
    run: ({ attach }) => ({
      cancel: () => undefined,
      done: execute().then(async ({ observed, done }): Promise<JobOutcome> => {
        attach({ channels: { ...observed } })
        await done
        return { status: 'completed', outcome: 'exit code: 0' }
      }),
    }),
  }
  const measured = await perCall(rounds, calls, {
    async bare(count) {
      for (let call = 0; call < count; call++) await (await execute()).done
    },
    async job(count) {
      for (let call = 0; call < count; call++) {
        const id = jobs.start(spec)
        await jobs.wait(id, 60_000, session)
        jobs.remove(id, session)
      }
    },
  })
  await composition.close()
  return measured
}

/** Kibibytes of heap that foreground calls of instant commands leave. */
export async function foregroundHeap(count: number): Promise<Record<string, number[]>> {
  const composition = await withBash(instantShell())
  const kibibytes = await leftByCalls(count >> 1, count, () => composition.call('bash', { command: 'true', description: 'do nothing' }))
  await composition.close()
  return { kibibytes: [kibibytes] }
}

/**
 * Among few live jobs and among many: microseconds of `list`, and of `kill`; and what the many cost while nobody asks: how many timers
 * they hold, and how often their readers were asked for changes.
 */
export async function crowds(rounds: number, calls: number, few: number, many: number): Promise<Record<string, number[]>> {
  const composition = await withJobs({ maxDetachedPerOwner: many * 2, maxJobsPerOwner: many * 2 })
  const { jobs, session } = composition
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const readers: ScriptedReader[] = []
  const ends: (() => void)[] = []
  const live = (owner: Session): JobId => startLive(jobs, owner, readers, ends)
  for (let index = 0; index < many; index++) live(session)
  const idle = { timers: timers() - before, asked: readers.reduce((sum, { asked }) => sum + asked, 0) }
  const { list } = await perCall(rounds, calls, {
    list(count) {
      for (let call = 0; call < count; call++) jobs.list(session)
    },
  })
  const small = await withJobs({ maxDetachedPerOwner: few * 2, maxJobsPerOwner: few * 2 })
  const smallEnds: (() => void)[] = []
  for (let index = 0; index < few; index++) startLive(small.jobs, small.session, [], smallEnds)
  const kills: Record<'few' | 'many', number[]> = { few: [], many: [] }
  for (let round = -3; round < rounds; round++) {
    for (const [name, { jobs: registry, session: owner }] of [
      ['few', small],
      ['many', composition],
    ] as const) {
      const us = await killing(registry, owner, calls)
      if (round >= 0) kills[name].push(us)
    }
  }
  for (const end of [...ends, ...smallEnds]) end()
  await Promise.all([composition.close(), small.close()])
  return { list, ...kills, timers: [idle.timers], asked: [idle.asked] }
}

/** Bytes of heap that a settled record takes, without readers. */
export async function keptRecords(count: number): Promise<Record<string, number[]>> {
  const composition = await withJobs({ settledPerOwner: count + 1_000 })
  const { jobs, session } = composition
  const settle = async (records: number): Promise<void> => {
    for (let index = 0; index < records; index++) {
      const id = jobs.start({
        kind: 'bash',
        label: `make target-${index}`,
        detail: { command: `make target-${index}`, description: 'build one target' },
        owner: session,
        attachment: 'detached',
        run: () => ({ cancel: () => undefined, done: Promise.resolve({ status: 'completed', outcome: 'exit code: 0' }) }),
      })
      await jobs.wait(id, 60_000, session)
    }
  }
  await settle(1_000)
  const before = await heapBytes()
  await settle(count)
  const bytes = ((await heapBytes()) - before) / count
  if (jobs.list(session).length !== count + 1_000) throw new Error('a record was not kept')
  await composition.close()
  return { kibibytes: [bytes / 1_024] }
}

/** Microseconds of `kill` alone: of one more job, which then ends and goes. The median, since one interruption takes longer than all kills. */
async function killing(jobs: Jobs, session: Session, count: number): Promise<number> {
  const us: number[] = []
  for (let call = 0; call < count; call++) {
    const ends: (() => void)[] = []
    const id = startLive(jobs, session, [], ends)
    const began = performance.now()
    jobs.kill(id, session, { by: 'host', text: 'bench' })
    us.push((performance.now() - began) * 1_000)
    for (const end of ends) end()
    await jobs.wait(id, 60_000, session)
    jobs.remove(id, session)
  }
  return summarize(us).median
}

function startLive(jobs: Jobs, owner: Session, readers: ScriptedReader[], ends: (() => void)[]): JobId {
  const reader = new ScriptedReader()
  readers.push(reader)
  return jobs.start({
    kind: 'bash',
    label: 'serve',
    owner,
    attachment: 'detached',
    run({ attach }) {
      // Not while `run` is on the stack: an executor has its output later, too.
      queueMicrotask(() => attach({ channels: { stdout: asReader(reader) } }))
      const done = new Promise<JobOutcome>((resolve) => ends.push(() => resolve({ status: 'killed', outcome: 'signal: SIGTERM' })))
      return { cancel: () => undefined, done }
    },
  })
}
