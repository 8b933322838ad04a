import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { connect, type HttpClient, serveHttp } from './mcp/over-http.ts'
import { started, textOf } from './mcp/served.ts'

async function jobOf({ bash }: HttpClient, cwd: string, file: string): Promise<string> {
  started(await bash(`echo $$ > ${file}; until test -e end-${file}; do sleep 0.02; done; echo of ${file}`, { run_in_background: true }))
  await bash(`until test -s ${file}; do sleep 0.02; done`)
  return readFileSync(path.join(cwd, file), 'utf8').trim()
}

it('CP-14 with shared jobs, what one client started another lists, reads and stops; a notice is told to all and read once', async () => {
  const server = await serveHttp({ jobs: 'shared' })
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  await jobOf(one, server.cwd, 'first')
  expect(textOf(await two.call('job_list'))).toMatch(/^bash-1 \[bash\] running/)
  const told = Promise.all([one.messages.next(), two.messages.next()])
  const ended = await two.bash('touch end-first')
  const [notice, again] = await told
  expect(notice).toMatch(/^background job bash-1 .* finished \[status: completed, exit code: 0\]/)
  expect(again).toBe(notice)
  const results = [ended, await two.bash('true'), await one.bash('true'), await two.bash('true')]
  expect(results.flatMap(({ content }) => content).filter((block) => block.type === 'text' && block.text === notice)).toHaveLength(1)
  const pid = await jobOf(two, server.cwd, 'second')
  const [id] = /^bash-\d+(?= \[bash\] running)/m.exec(textOf(await one.call('job_list'))) ?? []
  expect((await one.call('job_kill', { job_id: id })).isError).not.toBe(true)
  expect(textOf(await two.bash(`while kill -0 ${pid} 2>/dev/null; do sleep 0.02; done; echo gone`))).toBe('gone\n')
})

it('CP-14 shared jobs outlive the client that started them, its calls do not; they end with the row', async () => {
  const server = await serveHttp({ jobs: 'shared' })
  const one = await connect(server, server.token)
  const job = await jobOf(one, server.cwd, 'job')
  const call = one.bash('echo $$ > call; exec sleep 60').catch(() => undefined)
  await one.bash('until test -s call; do sleep 0.02; done')
  await one.transport.terminateSession()
  await one.client.close()
  await call
  const two = await connect(server, server.token)
  const waiting = readFileSync(path.join(server.cwd, 'call'), 'utf8').trim()
  expect(textOf(await two.bash(`while kill -0 ${waiting} 2>/dev/null; do sleep 0.02; done; echo gone`))).toBe('gone\n')
  expect(existsSync(`/proc/${job}`)).toBe(true)
  expect(textOf(await two.call('job_list'))).toMatch(/^bash-1 \[bash\] running/m)
  expect((await two.client.listResources()).resources.map(({ uri }) => uri)).toContain('tenon://jobs/bash-1/output')
  server.console.end()
  expect(await server.exit).toBe(0)
  expect(existsSync(`/proc/${job}`)).toBe(false)
})

it('CP-14 an edit from shared to own holds for clients that come: they are fenced, and the shared jobs end with the last client that has them', async () => {
  const server = await serveHttp({ jobs: 'shared' })
  const one = await connect(server, server.token)
  const job = await jobOf(one, server.cwd, 'job')
  const edited = server.said.next((line) => line.includes('mcp'))
  server.console.write('set mcp.jobs=own\n')
  await edited
  const two = await connect(server, server.token)
  expect(textOf(await two.call('job_list'))).toBe('(no background jobs)')
  expect(textOf(await one.call('job_list'))).toMatch(/^bash-1 \[bash\] running/)
  await one.transport.terminateSession()
  expect(textOf(await two.bash(`while kill -0 ${job} 2>/dev/null; do sleep 0.02; done; echo gone`))).toBe('gone\n')
})
