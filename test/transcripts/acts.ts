import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import type { JobView } from '@tenon/jobs'
import { isAlive } from '../../plugins/local-subprocess/test/alive.ts'
import type { World } from './world.ts'

/** What people and hosts do, one act a line. */
export async function act(world: World, line: string): Promise<void> {
  const [verb = '', name = '', ...rest] = line.trim().split(/\s+/)
  const does = ACTS[verb]
  if (does === undefined) throw new Error(`nobody can "${verb}"; there are: ${Object.keys(ACTS).join(', ')}`)
  await does(world, name, rest.join(' '))
}

const ACTS: Readonly<Record<string, (world: World, name: string, rest: string) => unknown>> = {
  stop: (world, job, reason) => world.jobs.kill(job, 'host', { by: 'human', text: reason === '' ? 'cancelled by the user' : reason }),
  promote(world, job) {
    const answer = world.jobs.promote(job, 'host')
    if (answer !== 'requested') throw new Error(`${job}: ${answer}`)
  },
  open: (world, session) => world.openSession(session),
  close: (world, session) => world.session(session).scope.close(),
  reload: (world, row) => world.reload(row),
  unload: (world, row) => world.unload(row),
  load: (world, row) => world.load(row),
  touch: (world, file) => writeFile(join(world.directory, file), ''),
}

/** Resolves once a line is true. Waits for the fact and for nothing else; `signal` is for whoever has waited long enough. */
export async function fact(world: World, line: string, signal: AbortSignal): Promise<void> {
  const [, job = '', relation = '', what = ''] = /^(\S+) (is|says|in) (.+)$/.exec(line.trim()) ?? []
  const isTrue = FACTS[relation]
  if (isTrue === undefined) throw new Error(`"${line}" cannot be waited for; say JOB is STATUS, JOB says TEXT, or pid in FILE is gone`)
  while (!(await isTrue(world, job, what))) await later(10, undefined, { signal })
}

const FACTS: Readonly<Record<string, (world: World, job: string, what: string) => boolean | Promise<boolean>>> = {
  is(world, job, what) {
    const view = viewOf(world, job)
    return what === 'gone' ? view === undefined : view !== undefined && (view.status === what || view.attachment === what)
  },
  says(world, job, what) {
    if (viewOf(world, job) === undefined) return false
    const { chunks } = world.jobs.readAt(job, {}, 'host')
    return chunks.some(({ text }) => text.includes(what))
  },
  async in(world, _pid, what) {
    const file = what.replace(/ is gone$/, '')
    const pid = Number(await readFile(join(world.directory, file), 'utf8'))
    if (!Number.isInteger(pid) || pid < 1) throw new Error(`${file} holds no pid`)
    return !isAlive(pid)
  },
}

function viewOf(world: World, job: string): JobView | undefined {
  return world.jobs.list('host').find(({ id }) => id === job)
}
