import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openSession } from '@tenon/session'
import { afterEach, describe, expect, it } from 'vitest'
import { isAlive, openRows, type RealRows } from './real-rows.ts'
import { outputMatches } from './shell-job.ts'

/** What users of other programs met, played with real commands. */
const run = promisify(execFile)
let app: RealRows
afterEach(() => app[Symbol.asyncDispose]())

const pidsIn = (text: string) => text.trim().split(/\s+/).map(Number)
/** `count` process ids, one a line. */
async function pidsOf(id: string, count: number): Promise<readonly number[]> {
  return pidsIn(await outputMatches(app.jobs, id, new RegExp(`^(\\d+\\n){${count}}$`)))
}

describe('the end of a job', () => {
  it('B104 a job has completed when its command has: what it left behind goes on writing, is read, and ends with the host', async () => {
    app = await openRows()
    const id = await app.background('(while [ ! -e go ]; do sleep 0.02; done; echo late; exec sleep 60) & echo $!; exit 0')
    const { job } = await app.jobs.wait(id, 10_000, 'host')
    expect(job).toMatchObject({ status: 'completed', detail: { exitCode: 0 } })
    const [survivor = 0] = await pidsOf(id, 1)
    expect(isAlive(survivor)).toBe(true)
    await app.shown('job_output', { job_id: id })
    await writeFile(join(app.directory, 'go'), '')
    while (app.jobs.get(id, 'host').output.stdout?.size === job.output.stdout?.size) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await app.shown('job_output', { job_id: id })).toBe('late\n[status: completed, exit code: 0]')
    await app.kernel.close()
    expect(isAlive(survivor)).toBe(false)
  })

  it('B106 a model that waits for a job goes on when a person stops it, also one that ignores TERM, within its grace', async () => {
    app = await openRows({ 'local-bash': { graceMs: 300 } })
    const id = await app.background(`trap '' TERM; echo up; while :; do sleep 0.05; done`)
    await outputMatches(app.jobs, id, /up/)
    const waiting = app.shown('job_output', { job_id: id, wait: true, timeout_ms: 60_000 })
    const since = performance.now()
    app.jobs.kill(id, 'host', { by: 'human', text: 'cancelled by the user' })
    expect(await waiting).toBe('up\n[status: killed, signal: SIGKILL; cancelled by the user]')
    expect(performance.now() - since).toBeLessThan(10_000)
  })

  it('B118 a quick job is there to be read after it has ended, and again', async () => {
    app = await openRows()
    const id = await app.background('echo x')
    await app.jobs.wait(id, 10_000, 'host')
    expect(await app.shown('job_output', { job_id: id })).toBe('x\n[status: completed, exit code: 0]')
    expect(await app.shown('job_output', { job_id: id })).toBe('(no new output)\n[status: completed, exit code: 0]')
  })

  it('B119 one call waits for the end; a short wait and an aborted one come back at once, and the end is told afterwards', async () => {
    app = await openRows()
    const command = 'while [ ! -e go ]; do sleep 0.02; done; echo done'
    const id = await app.background(command)
    expect(await app.shown('job_output', { job_id: id, wait: true, timeout_ms: 100 })).toBe('(no new output)\n[status: running]')
    const controller = new AbortController()
    const aborted = app.call('job_output', { job_id: id, wait: true }, { signal: controller.signal })
    controller.abort()
    expect(await aborted).toMatchObject({ code: 'TOOL_ABORTED' })
    await writeFile(join(app.directory, 'go'), '')
    await app.jobs.wait(id, 10_000, 'host')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(app.session.notices.drain().map(({ summary }) => summary)).toEqual([`${id} completed: ${command}`])
    const other = await app.background('sleep 0.3; echo done')
    expect(await app.shown('job_output', { job_id: other, wait: true })).toBe('done\n[status: completed, exit code: 0]')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(app.session.notices.drain()).toEqual([])
  })
})

describe('what a model has lost', () => {
  it('B110 the list alone, without any history, is enough to read and to stop every job', async () => {
    app = await openRows()
    await app.background('echo from the server; exec sleep 60')
    await app.bash('echo from the build; exec sleep 60', { timeoutMs: 1_500 })
    const ended = await app.background('echo from the test; exit 3')
    await app.jobs.wait(ended, 10_000, 'host')
    const rows = (await app.shown('job_list')).split('\n')
    expect(rows).toEqual([
      expect.stringMatching(/^bash-1 \[bash\] running \(\d+s\) — echo from the server; exec sleep 60$/),
      expect.stringMatching(/^bash-2 \[bash\] running \(\d+s\) — echo from the build; exec sleep 60$/),
      expect.stringMatching(/^bash-3 \[bash\] completed \(\d+s\) — echo from the test; exit 3$/),
    ])
    const ids = rows.map((row) => row.split(' ')[0] ?? '')
    const outputs = await Promise.all(ids.map((id) => app.shown('job_output', { job_id: id })))
    // What the promoted call has shown already is not unread.
    expect(outputs).toEqual([
      'from the server\n[status: running]',
      '(no new output)\n[status: running]',
      'from the test\n[status: completed, exit code: 3]',
    ])
    for (const id of ids.slice(0, 2)) expect(await app.shown('job_kill', { job_id: id })).toBe(`requested cancellation of job ${id}`)
    for (const id of ids) expect((await app.jobs.wait(id, 10_000, 'host')).outcome).toBe('settled')
  })

  it('B109 hundreds of foreground commands leave an empty list, and numbers that go on', async () => {
    app = await openRows()
    for (let batch = 0; batch < 20; batch++) await Promise.all(Array.from({ length: 10 }, () => app.bash('ls /')))
    expect(await app.shown('job_list')).toBe('(no background jobs)')
    expect(app.jobs.list('host')).toEqual([])
    expect(await app.background('true')).toBe('bash-201')
  })
})

describe('the end of an owner', () => {
  it('B112 a call that has returned leaves its job running; the end of its session stops it, awaited, with the reason', async () => {
    app = await openRows()
    const agent = openSession(app.kernel.scope, { id: 'subagent', cwd: app.directory })
    const id = await app.background('echo $$; exec sleep 60', agent)
    const [pid = 0] = await pidsOf(id, 1)
    expect(app.jobs.get(id, agent).status).toBe('running')
    const ends: unknown[] = []
    app.jobs.subscribe(app.kernel.scope, 'all', (event) => {
      if (event.type === 'settled') ends.push(event.job.detail.outcome)
    })
    await agent.scope.close()
    expect([isAlive(pid), ends, app.jobs.list('host')]).toEqual([false, ['signal: SIGTERM; session closed'], []])
  })

  it('B113 the end of a session is the end of those it opened, three deep, with everything their commands started', async () => {
    app = await openRows()
    const root = openSession(app.kernel.scope, { id: 'root', cwd: app.directory })
    const child = openSession(root.scope, { id: 'child', cwd: app.directory })
    const grandchild = openSession(child.scope, { id: 'grandchild', cwd: app.directory })
    const bystander = await app.background('echo $$; exec sleep 60')
    const [children, shells]: [number[], number[]] = [[], []]
    for (const session of [root, child, grandchild]) {
      const [inner = 0, shell = 0] = await pidsOf(await app.background('sleep 60 & echo $!; echo $$; wait', session), 2)
      children.push(inner)
      shells.push(shell)
    }
    await root.scope.close()
    expect(shells.filter(isAlive)).toEqual([])
    // They got the same signal as their shells, whose end is that of the job.
    while (children.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(app.jobs.list('host').map(({ id, status }) => [id, status])).toEqual([[bystander, 'running']])
  })

  it('B115 removing the row of the processes ends and awaits what runs, and the registry tells so', async () => {
    app = await openRows()
    const id = await app.background('sleep 60 & echo $!; echo $$; wait')
    const pids = await pidsOf(id, 2)
    await app.kernel.row('local-subprocess')?.unload()
    expect(pids.filter(isAlive)).toEqual([])
    const { job } = await app.jobs.wait(id, 10_000, 'host')
    expect(job).toMatchObject({ status: 'killed', detail: { signal: 'SIGTERM' } })
    expect(await app.shown('job_output', { job_id: id })).toBe(`${pids.join('\n')}\n[status: killed, signal: SIGTERM]`)
  })
})

describe('slots', () => {
  it('B130 a slot is taken until the process is gone, not until somebody asked for it', async () => {
    app = await openRows({ jobs: { maxDetachedPerOwner: 1 }, 'local-bash': { graceMs: 500 } })
    const id = await app.background(`trap '' TERM; echo $$; while :; do sleep 0.05; done`)
    const [pid = 0] = await pidsOf(id, 1)
    await app.shown('job_kill', { job_id: id })
    const refused = 'Error: background job limit reached for this session (limit: 1); wait for one to finish or stop one with job_kill'
    expect(await app.bash('true', { run_in_background: true })).toBe(refused)
    expect(isAlive(pid)).toBe(true)
    await app.jobs.wait(id, 10_000, 'host')
    expect(isAlive(pid)).toBe(false)
    expect(await app.background('true')).toBe('bash-2')
  })
})

describe('what work costs the host', () => {
  it('B127 two hundred jobs leave no descriptor once their records have gone', async () => {
    app = await openRows({ jobs: { maxDetachedPerOwner: 64 } })
    const descriptors = async () => (await readdir('/proc/self/fd')).length
    await app.jobs.wait(await app.background('echo first'), 10_000, 'host')
    const before = await descriptors()
    for (let batch = 0; batch < 10; batch++) {
      const ids = await Promise.all(Array.from({ length: 20 }, () => app.background('echo x')))
      for (const id of ids) {
        await app.jobs.wait(id, 10_000, 'host')
        app.jobs.remove(id, 'host')
      }
    }
    // Those of the last ones go at the end of the turn.
    await expect.poll(descriptors).toBeLessThanOrEqual(before + 2)
  })

  it('B127 out of descriptors a command is refused with the reason, those that run go on, and it works again afterwards', async () => {
    const program = fileURLToPath(new URL('./programs/few-descriptors.js', import.meta.url))
    app = await openRows()
    const { stdout } = await run('bash', ['-c', 'ulimit -n 256; exec "$0" "$1"', process.execPath, program], { timeout: 50_000 })
    const seen = JSON.parse(stdout) as { failure: string; running: number; after: string; left: number }
    expect(seen).toMatchObject({ failure: expect.stringContaining('EMFILE'), after: 'works again\n' })
    expect(seen.running).toBeGreaterThan(2)
    expect(seen.left).toBeLessThanOrEqual(2)
  })

  it('B133 a command that eats its memory ends by itself, is told as it was, and the host has read none of it', async () => {
    app = await openRows()
    const heap = process.memoryUsage().rss
    const id = await app.background('export LC_ALL=C; ulimit -v 100000; tail /dev/zero')
    const { job } = await app.jobs.wait(id, 30_000, 'host')
    expect(job).toMatchObject({ status: 'completed', detail: { exitCode: 1 } })
    expect(await app.shown('job_output', { job_id: id })).toMatch(/\[stderr\]\ntail: .*memory.*\n\[status: completed, exit code: 1\]$/)
    expect(process.memoryUsage().rss - heap).toBeLessThan(64 * 1024 * 1024)
    // What the system's own killer does.
    expect(await app.bash('kill -9 $$')).toBe('(no output)\n[killed by signal: SIGKILL]')
  })

  it('B136 twenty idle commands, followed, cost the host less than a hundredth of a core', async () => {
    app = await openRows({ jobs: { maxDetachedPerOwner: 20 } })
    const ids = await Promise.all(Array.from({ length: 20 }, () => app.background('exec sleep 60')))
    const over = new AbortController()
    const following = ids.map(async (id) => {
      for await (const _item of app.jobs.follow(id, { caller: 'host', signal: over.signal }));
    })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const before = process.cpuUsage()
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    const { user, system } = process.cpuUsage(before)
    over.abort()
    await Promise.all(following)
    expect((user + system) / 1_000).toBeLessThan(40)
  })
})
