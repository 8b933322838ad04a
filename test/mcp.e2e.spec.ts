import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Progress } from '@modelcontextprotocol/sdk/types.js'
import { expect, it } from 'vitest'
import { Facts, serve, textOf } from './mcp/served.ts'

const WITHOUT_JOBS = `extends: mcp
plugins:
  jobs: { disabled: true }
  tool-jobs: { disabled: true }
`

it('CP-14 a client lists tools with schemas both ways, and reads the system prompt as instructions', async () => {
  const { client } = await serve()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['bash', 'job_kill', 'job_list', 'job_output'])
  const [bash] = tools
  expect(bash?.inputSchema).toMatchObject({ type: 'object', required: ['command', 'description'], additionalProperties: false })
  expect(bash?.outputSchema).toMatchObject({ type: 'object' })
  expect(client.getServerVersion()).toMatchObject({ name: 'tenon' })
  expect(client.getInstructions()).toMatch(/^A bash command that failed ends with.*Keep the id of a background job/s)
})

it('CP-14 a result is text and a structured value that fits the schema; the working directory is that of the program', async () => {
  const { bash, client, cwd } = await serve()
  // The official client checks structured content against the schemas it has listed.
  await client.listTools()
  const result = await bash('pwd; exit 3')
  expect(result.isError).not.toBe(true)
  expect(textOf(result)).toBe(`${cwd}\n[exit code: 3]`)
  expect(result.structuredContent).toMatchObject({ kind: 'foreground', exitCode: 3, stdout: { text: `${cwd}\n` } })
})

it('CP-14 an error is a result with its code', async () => {
  const { call, client } = await serve()
  await client.listTools()
  const wrong = await call('bash', { comand: 'true' })
  expect(wrong).toMatchObject({ isError: true, _meta: { 'tenon/code': 'TOOL_ARGUMENTS' } })
  expect(textOf(wrong)).toMatch(/^Error: .*comand.*command/s)
  expect(wrong.structuredContent).toBeUndefined()
  expect(await call('bsh', {})).toMatchObject({ isError: true, _meta: { 'tenon/code': 'TOOL_UNKNOWN' } })
})

it('CP-14 jobs unloading and loading change the list, told once each time', async () => {
  const { client, edit, listChanges } = await serve()
  await client.listTools()
  let changed = listChanges.next()
  await edit(WITHOUT_JOBS)
  await changed
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['bash'])
  expect(tools[0]?.inputSchema.properties).not.toHaveProperty('run_in_background')
  changed = listChanges.next()
  await edit('extends: mcp\n')
  await changed
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['bash', 'job_kill', 'job_list', 'job_output'])
  expect(listChanges.all).toEqual(['changed', 'changed'])
})

it('CP-14 a cancelled call ends its command', async () => {
  const { bash, client, cwd } = await serve()
  const cancel = new AbortController()
  const call = client.callTool({ name: 'bash', arguments: { command: 'echo $$ > pid; exec sleep 60', description: 'waits' } }, undefined, {
    signal: cancel.signal,
  })
  const pid = await numberIn(path.join(cwd, 'pid'), bash)
  cancel.abort('no longer wanted')
  await expect(call).rejects.toThrow('no longer wanted')
  expect(textOf(await bash(untilGone(pid)))).toBe('gone\n')
})

it('CP-14 progress carries the newest line of output, and only to who asks', async () => {
  const { client, cwd } = await serve()
  const told = new Facts<Progress>()
  const heard = told.next(({ message }) => message === 'two')
  const call = client.callTool(
    { name: 'bash', arguments: { command: 'echo one; echo two; until test -e go; do sleep 0.05; done', description: 'x' } },
    undefined,
    {
      onprogress: (progress) => told.add(progress),
    },
  )
  await heard
  await client.callTool({ name: 'bash', arguments: { command: 'touch go', description: 'x' } })
  await call
  expect(existsSync(path.join(cwd, 'go'))).toBe(true)
  expect(told.all.map(({ progress }) => progress)).toEqual(told.all.map(({ progress }) => progress).toSorted((a, b) => a - b))
})

it('CP-14 progress of a wait for a job carries its newest line too, so that a client knows it is worth waiting for', async () => {
  const { bash, client, cwd } = await serve()
  const command = 'echo one; until test -e go; do sleep 0.05; done; echo two; until test -e on; do sleep 0.05; done; echo three'
  expect(textOf(await bash(command, { run_in_background: true }))).toBe('started background job bash-1')
  const told = new Facts<Progress>()
  const [first, second] = ['one', 'two'].map((line) => told.next(({ message }) => message === line))
  const onprogress = (progress: Progress) => told.add(progress)
  const waiting = client.callTool({ name: 'job_output', arguments: { job_id: 'bash-1', wait: true } }, undefined, { onprogress })
  await first
  await writeFile(path.join(cwd, 'go'), '')
  await second
  await writeFile(path.join(cwd, 'on'), '')
  expect(textOf((await waiting) as never)).toBe('one\ntwo\nthree\n[status: completed, exit code: 0]')
  expect(told.all.map(({ progress }) => progress)).toEqual(told.all.map(({ progress }) => progress).toSorted((a, b) => a - b))
})

it('CP-14 a notice is a message at once, and part of the next result, exactly once', async () => {
  const { bash, cwd, messages } = await serve()
  const told = messages.next()
  expect(textOf(await bash('until test -e go; do sleep 0.02; done', { run_in_background: true }))).toBe('started background job bash-1')
  await writeFile(path.join(cwd, 'go'), '')
  const notice = await told
  expect(notice).toMatch(/^background job bash-1 \(bash: until .*\) finished \[status: completed, exit code: 0\]/)
  const [one, two] = [await bash('true'), await bash('true')]
  expect(one.content.map((block) => (block.type === 'text' ? block.text : block))).toEqual(['(no output)', notice])
  expect(two.content).toHaveLength(1)
  expect(messages.all).toHaveLength(1)
})

it('CP-14 a client that goes away while a job runs: the job ends, and the program with it', async () => {
  const { bash, client, cwd, log, transport } = await serve()
  await bash('echo $$ > pid; exec sleep 60', { run_in_background: true })
  const pid = await numberIn(path.join(cwd, 'pid'), bash)
  const server = transport.pid ?? 0
  await client.close()
  expect(isAlive(pid)).toBe(false)
  expect(isAlive(server)).toBe(false)
  expect(log.all.join('\n')).not.toMatch(/error|SIGTERM: closing/i)
})

it('CP-14 a hundred calls at once each get their own result', async () => {
  const { bash } = await serve()
  const results = await Promise.all(Array.from({ length: 100 }, (_, n) => bash(`echo ${n}`)))
  expect(results.map(textOf)).toEqual(Array.from({ length: 100 }, (_, n) => `${n}\n`))
})

/** A file may be there before what is in it: asks the server's shell, which can wait. */
async function numberIn(file: string, bash: (command: string) => Promise<unknown>): Promise<number> {
  await bash(`until test -s '${file}'; do sleep 0.02; done`)
  return Number(readFileSync(file, 'utf8'))
}

function untilGone(pid: number): string {
  return `while kill -0 ${pid} 2>/dev/null; do sleep 0.02; done; echo gone`
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('CP-14 100 answers at once, 25 MB in all, reach a client that reads them, and the job beside them goes on', async () => {
  const { background, bash, call } = await serve()
  await background('until test -e end; do sleep 0.02; done')
  const command = "head -c 64000 /dev/zero | tr '\\0' x; head -c 64000 /dev/zero | tr '\\0' y >&2"
  const results = await Promise.all(Array.from({ length: 100 }, () => bash(command)))
  const bytes = results.map(({ structuredContent }) => (structuredContent as { stdout: { text: string } }).stdout.text.length)
  expect(bytes).toEqual(Array.from({ length: 100 }, () => 64_000))
  expect(textOf(await call('job_list', {}))).toMatch(/^bash-1 \[bash\] running/m)
})
