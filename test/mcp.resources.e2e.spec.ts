import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, it } from 'vitest'
import { Facts, type Served, serve } from './mcp/served.ts'

/** A client that has listed the resources, and what it is told of them. */
async function watching(): Promise<
  Served & { readonly updates: Facts<string>; readonly changes: Facts<'changed'>; read(uri: string): Promise<string> }
> {
  const served = await serve()
  const { client } = served
  const [updates, changes] = [new Facts<string>(), new Facts<'changed'>()]
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updates.add(params.uri))
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => changes.add('changed'))
  const read = async (uri: string): Promise<string> => {
    const [content] = (await client.readResource({ uri })).contents
    return content !== undefined && 'text' in content ? content.text : ''
  }
  return { ...served, updates, changes, read }
}

const uris = async ({ client }: Served): Promise<readonly string[]> => (await client.listResources()).resources.map(({ uri }) => uri)

it('CP-14 jobs are resources: a list, and the output of each', async () => {
  const served = await watching()
  const { background, changes, client, read } = served
  expect(await uris(served)).toEqual(['tenon://jobs'])
  expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: 'tenon://jobs/{id}/output' }])
  const changed = changes.next()
  await background('echo out; echo err >&2; until test -e end; do sleep 0.02; done')
  await changed
  expect(await uris(served)).toEqual(['tenon://jobs', 'tenon://jobs/bash-1/output'])
  expect(JSON.parse(await read('tenon://jobs'))).toMatchObject({
    jobs: [{ id: 'bash-1', kind: 'bash', status: 'running', attachment: 'detached', output: 'tenon://jobs/bash-1/output' }],
  })
  const settled = served.messages.next()
  // Not by a call: its own result could be the one that carries the notice.
  await writeFile(path.join(served.cwd, 'end'), '')
  await settled
  // Reading the resource is not reading the job: the model's cursor stays where it is.
  expect(await read('tenon://jobs/bash-1/output')).toBe('out\n[stderr]\nerr\n')
  expect(await served.call('job_output', { job_id: 'bash-1' })).toMatchObject({
    content: [{ text: expect.stringMatching(/^out\n\[stderr\]\nerr\n/) }, {}],
  })
  for (const uri of ['tenon://jobs/bash-9/output', 'tenon://other', 'tenon://jobs/%zz/output']) {
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32_002,
      message: expect.stringMatching(/^MCP error -32002: Resource not found/),
    })
    await expect(client.subscribeResource({ uri })).rejects.toMatchObject({
      code: -32_002,
      message: expect.stringMatching(/^MCP error -32002: Resource not found/),
    })
  }
})

it('CP-14 a subscriber is told when output grows and when the list changes, until it unsubscribes', async () => {
  const { background, bash, client, read, updates } = await watching()
  await background('for n in 1 2 3; do until test -e go$n; do sleep 0.02; done; echo line $n; done; until test -e end; do sleep 0.02; done')
  const uri = 'tenon://jobs/bash-1/output'
  await client.subscribeResource({ uri })
  await client.subscribeResource({ uri: 'tenon://jobs' })
  for (const n of [1, 2]) {
    const updated = updates.next((candidate) => candidate === uri)
    await bash(`touch go${n}`)
    await updated
    expect(await read(uri)).toMatch(new RegExp(`line ${n}\\n$`))
  }
  await client.unsubscribeResource({ uri })
  const before = updates.all.filter((candidate) => candidate === uri).length
  await bash('touch go3')
  const listed = updates.next((candidate) => candidate === 'tenon://jobs')
  await bash('touch end')
  await listed
  expect(updates.all.filter((candidate) => candidate === uri)).toHaveLength(before)
})

it('CP-09 a subscription outlives the reload of the registry and of the server; what it missed is told', async () => {
  const served = await watching()
  const { background, bash, client, edit, read, updates } = served
  await background('until test -e go; do sleep 0.02; done; echo grown; until test -e end; do sleep 0.02; done')
  const uri = 'tenon://jobs/bash-1/output'
  expect(await uris(served)).toEqual(['tenon://jobs', uri])
  await client.subscribeResource({ uri })
  await edit('extends: mcp\nplugins:\n  jobs: { with: { settledPerOwner: 150 } }\n  mcp: { with: { drainMs: 900 } }\n')
  await client.ping()
  expect(served.changes.all).toEqual([])
  const grown = (async () => {
    for (;;) {
      await updates.next((candidate) => candidate === uri)
      if ((await read(uri)) === 'grown\n') return
    }
  })()
  await bash('touch go')
  await grown
  await bash('touch end')
})
