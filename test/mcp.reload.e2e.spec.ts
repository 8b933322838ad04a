import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { initialize, type Piped, pipe } from './mcp/piped.ts'

const program = fileURLToPath(new URL('./programs/mcp-under-change.js', import.meta.url))

/** An option of each row of the composition, with a value other than its default. */
const OPTIONS = {
  'jobs.settledPerOwner': 150,
  'mcp.drainMs': 900,
  'shell.timeoutMs': 110_000,
  'shell-env.home': '/home/ada',
  'subprocess.killWaitMs': 4_000,
  'system-prompt.sectionBudgetMs': 900,
  'tool-jobs.defaultWaitMs': 29_000,
  'tools.abortGraceMs': 9_000,
}
const ROWS = [...Object.keys(OPTIONS).map((key) => key.split('.')[0] ?? ''), 'tool-bash']

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

/** Nothing is lost, and the client was told of the one change it can see. */
async function expectUnharmed({ server, listed, waiting, pid }: Awaited<ReturnType<typeof underWork>>): Promise<void> {
  expect(existsSync(`/proc/${pid}`)).toBe(true)
  // Of all the options one is read by a model.
  const shown = JSON.stringify(listed.result).replace('Default 30000,', 'Default 29000,')
  expect((await server.request(5, 'tools/list')).result).toEqual(JSON.parse(shown))
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
  expect(server.answers.all.filter(({ method }) => method === 'notifications/tools/list_changed')).toHaveLength(1)
  server.stdin.end()
  expect(await server.exit).toBe(0)
}

it('CP-09 each row, its own included, is reconfigured and reloaded under a connected client: nothing is lost, and what a model sees of it is announced', async () => {
  const work = await underWork()
  for (const [key, value] of Object.entries(OPTIONS)) {
    const row = key.split('.')[0]
    expect(await work.server.tell({ set: { [key]: value } })).toEqual({ touched: [row] })
    expect((await work.server.request(100, 'ping')).result).toEqual({})
  }
  for (const row of ROWS) {
    expect(await work.server.tell({ reload: [row] })).toEqual({ touched: [row] })
    expect(texts(await work.server.request(101, 'tools/call', bash('echo here')))).toEqual(['here\n'])
  }
  await expectUnharmed(work)
}, 120_000)

it('CP-09 all rows at once, while requests keep coming', async () => {
  const work = await underWork()
  const changed = work.server.tell({ set: OPTIONS })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => work.server.request(200 + n, 'tools/call', bash(`echo ${n}`))))
  expect(answers.map((answer) => texts(answer)[0])).toEqual(answers.map((_, n) => `${n}\n`))
  expect(await changed).toMatchObject({
    touched: Object.keys(OPTIONS)
      .map((key) => key.split('.')[0])
      .toSorted(),
  })
  await expectUnharmed(work)
}, 120_000)

it('CP-09 removing the server ends the connection in order', async () => {
  const work = await underWork()
  void work.server.tell({ disable: ['mcp'] }).catch(() => undefined)
  expect(await work.server.exit).toBe(0)
  expect(existsSync(`/proc/${work.pid}`)).toBe(false)
}, 120_000)

it('CP-09 another transport ends the connection in order', async () => {
  const work = await underWork()
  void work.server.tell({ set: { 'mcp.transport': 'http', 'mcp.port': 0 } }).catch(() => undefined)
  expect(await work.server.exit).toBe(0)
  expect(existsSync(`/proc/${work.pid}`)).toBe(false)
}, 120_000)

function texts({ result }: Awaited<ReturnType<Piped['request']>>): readonly string[] {
  return (result?.content as { readonly text: string }[] | undefined)?.map(({ text }) => text) ?? []
}
