import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { catalogRows } from './mcp/catalog-rows.ts'
import { initialize, type Piped, pipe } from './mcp/piped.ts'

const program = fileURLToPath(new URL('./programs/mcp-under-change.js', import.meta.url))

/** Options of each row, with a value other than the default: those that no model reads, and those that one does. */
const UNSEEN = {
  'jobs.settledPerOwner': 150,
  'mcp.drainMs': 900,
  'shell.timeoutMs': 110_000,
  'shell-env.home': '/home/ada',
  'subprocess.killWaitMs': 4_000,
  'system-prompt.sectionBudgetMs': 900,
  'tools.abortGraceMs': 9_000,
}
const SEEN = {
  'tool-bash.promoteOnTimeout': false,
  'tool-jobs.defaultWaitMs': 29_000,
}
const OPTIONS = { ...UNSEEN, ...SEEN }
const rowOf = (key: string): string => key.split('.')[0] ?? ''

const bash = (command: string, more: object = {}): object => ({ name: 'bash', arguments: { command, description: 'for a test', ...more } })

/** A job that writes a line each time it is told to, and a call that waits. */
async function underWork() {
  const server = await pipe({ program })
  await initialize(server)
  const listed = await server.request(1, 'tools/list')
  await server.request(
    2,
    'tools/call',
    bash('echo $$ > pid; n=0; until test -e end; do echo line $((n += 1)); sleep 0.02; done', { run_in_background: true }),
  )
  await server.request(3, 'tools/call', bash('until test -s pid; do sleep 0.02; done'))
  const waiting = server.request(4, 'tools/call', bash('echo begun; until test -e go; do sleep 0.02; done; echo done; exit 5'))
  const pid = Number(readFileSync(path.join(server.cwd, 'pid'), 'utf8'))
  return { server, listed, waiting, pid }
}

const countTold = ({ answers }: Piped): number => answers.all.filter(({ method }) => method === 'notifications/tools/list_changed').length

/** What the client sees of the tools; the list is asked for after the pong, when everything that was to be told has been. */
async function seen(server: Piped): Promise<{ readonly told: number; readonly tools: string }> {
  await server.request(100, 'ping')
  const told = countTold(server)
  return { told, tools: JSON.stringify((await server.request(101, 'tools/list')).result) }
}

/** One edit: the client is told once if what it sees has changed, else not at all. Resolves with whether it has. */
async function edited(server: Piped, edit: object, touched: readonly string[]): Promise<boolean> {
  const before = await seen(server)
  expect(await server.tell(edit)).toEqual({ touched })
  const after = await seen(server)
  const hasChanged = after.tools !== before.tools
  expect([edit, after.told - before.told]).toEqual([edit, hasChanged ? 1 : 0])
  return hasChanged
}

/** Nothing is lost. */
async function expectUnharmed({ server, waiting, pid }: Awaited<ReturnType<typeof underWork>>): Promise<void> {
  expect(existsSync(`/proc/${pid}`)).toBe(true)
  await server.request(6, 'tools/call', bash('touch go'))
  expect(await waiting).toMatchObject({ result: { structuredContent: { exitCode: 5, stdout: { text: 'begun\ndone\n' } } } })
  const noticed = server.answers.next(({ method }) => method === 'notifications/message')
  await server.request(7, 'tools/call', bash('touch end'))
  await noticed
  const read = await server.request(8, 'tools/call', { name: 'job_output', arguments: { job_id: 'bash-1' } })
  const [page = '', notice] = texts(read)
  const lines = page.split('\n').filter((line) => line.startsWith('line '))
  expect(lines).toEqual(lines.map((_, n) => `line ${n + 1}`))
  expect(page).toMatch(/\[status: completed, exit code: 0\]$/)
  // On the result of the call that ended the job, or on the next.
  expect(server.lines.filter((line) => line.includes('"text":"background job bash-1'))).toHaveLength(1)
  expect(notice === undefined || notice.startsWith('background job bash-1')).toBe(true)
  server.stdin.end()
  expect(await server.exit).toBe(0)
}

it('CP-09 every row of the catalog has an option that these tests change', async () => {
  expect([...new Set(Object.keys(OPTIONS).map(rowOf))].toSorted()).toEqual(await catalogRows())
})

it('CP-09 each row of the catalog is reconfigured under a connected client: nothing is lost, and it is told of what it sees, and of nothing else', async () => {
  const work = await underWork()
  for (const [key, value] of Object.entries(OPTIONS)) {
    expect([key, await edited(work.server, { set: { [key]: value } }, [rowOf(key)])]).toEqual([key, key in SEEN])
    expect(texts(await work.server.request(102, 'tools/call', bash('echo here')))).toEqual(['here\n'])
  }
  await expectUnharmed(work)
})

it('CP-09 each row of the catalog is reloaded under a connected client: nothing is lost, and it is told nothing', async () => {
  const work = await underWork()
  for (const row of await catalogRows()) {
    expect([row, await edited(work.server, { reload: [row] }, [row])]).toEqual([row, false])
    expect(texts(await work.server.request(102, 'tools/call', bash('echo here')))).toEqual(['here\n'])
  }
  await expectUnharmed(work)
})

it('CP-09 each row of tools is taken away and brought back: it is told each time, and jobs and calls that run go on', async () => {
  const work = await underWork()
  for (const row of ['tool-jobs', 'tool-bash']) {
    expect([row, await edited(work.server, { disable: [row] }, [row])]).toEqual([row, true])
    expect([row, await edited(work.server, { enable: [row] }, [row])]).toEqual([row, true])
  }
  expect((await work.server.request(103, 'tools/list')).result).toEqual(work.listed.result)
  await expectUnharmed(work)
})

it('CP-09 all rows of the catalog at once, while requests keep coming: one change is told', async () => {
  const work = await underWork()
  const changed = work.server.tell({ set: OPTIONS })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => work.server.request(200 + n, 'tools/call', bash(`echo ${n}`))))
  expect(answers.map((answer) => texts(answer)[0])).toEqual(answers.map((_, n) => `${n}\n`))
  expect(await changed).toEqual({ touched: await catalogRows() })
  expect((await seen(work.server)).told).toBe(1)
  await expectUnharmed(work)
})

it('CP-09 removing the server ends the connection in order', async () => {
  const work = await underWork()
  void work.server.tell({ disable: ['mcp'] }).catch(() => undefined)
  expect(await work.server.exit).toBe(0)
  expect(existsSync(`/proc/${work.pid}`)).toBe(false)
})

it('CP-09 another transport ends the connection in order', async () => {
  const work = await underWork()
  void work.server.tell({ set: { 'mcp.transport': 'http', 'mcp.port': 0 } }).catch(() => undefined)
  expect(await work.server.exit).toBe(0)
  expect(existsSync(`/proc/${work.pid}`)).toBe(false)
})

function texts({ result }: Awaited<ReturnType<Piped['request']>>): readonly string[] {
  return (result?.content as { readonly text: string }[] | undefined)?.map(({ text }) => text) ?? []
}
