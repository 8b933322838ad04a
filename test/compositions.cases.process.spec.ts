import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Jobs } from '@tenon/jobs'
import { openRuntime, type Runtime, type RuntimeEvent } from '@tenon/runtime'
import { openSession, type Session } from '@tenon/session'
import { recordedLog } from '@tenon/testkit'
import { Tools } from '@tenon/tools'
import { expect, it, onTestFinished } from 'vitest'

interface World {
  readonly runtime: Runtime
  readonly session: Session
  /** What plugins noted, by calling `note`. */
  readonly notes: string[]
  readonly log: () => readonly string[]
  write(name: string, text: string): Promise<void>
  call(name: string, args?: object): Promise<{ readonly isError: boolean; readonly value?: unknown; readonly text: string }>
}

/** The real first-party plugins, over files of the test's own; plugins by path note things with `note(text)`. */
async function open(files: Readonly<Record<string, string>>, watch = false): Promise<World> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-cases-')))
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(folder, name), text)
  for (const [name, text] of Object.entries(files)) await write(name, text)
  const notes: string[] = []
  const { logger, lines } = recordedLog()
  const place = `tenonNotes${path.basename(folder)}`
  Object.assign(globalThis, { [place]: notes })
  await write('note.ts', `export const note = (text: string): void => void (globalThis as any)[${JSON.stringify(place)}].push(text)\n`)
  const runtime = await openRuntime({ catalog: path.join(folder, 'tenon.yaml'), logger, watch })
  const session = openSession(runtime.kernel.scope, { id: 'test', cwd: folder })
  onTestFinished(async () => {
    await runtime.close()
    Reflect.deleteProperty(globalThis, place)
    await rm(folder, { recursive: true })
  })
  const call: World['call'] = async (name, args = {}) => {
    const { signal } = session.scope
    const result = await runtime.kernel.get(Tools)?.execute({ name, arguments: args, session, signal })
    if (result === undefined) throw new Error('the composition has no tools')
    const text = result.content.map((part) => ('text' in part ? part.text : '')).join('')
    return result.isError ? { isError: true, text } : { isError: false, value: result.value, text }
  }
  return { runtime, session, notes, log: () => lines.map(({ message }) => message), write, call }
}

/** A plugin by path. */
function plugin(name: string, body: string, rest = ''): string {
  return `import { capability, definePlugin } from '@tenon/kernel'
import { note } from './note.ts'
const Tools = capability<any>('tools')
const Jobs = capability<any>('jobs')
const SystemPrompt = capability<any>('system-prompt')
const tool = (name: string, execute: () => Promise<unknown>) => ({ name, description: name, inputSchema: { type: 'object' }, execute, render: (value: any) => [{ type: 'text', text: String(value) }] })
export default definePlugin({ name: '${name}', ${rest} ${body} })
`
}

it('B158 a plugin that listens to everything hears each thing once after 20 reloads', async () => {
  const listening = (name: string): string =>
    plugin(
      name,
      `activate(scope: any, tools: any, jobs: any, prompt: any) {
        tools.changed.on(scope, () => note('${name} tools'))
        tools.calls.on(scope, ({ type }: any) => note('${name} call ' + type))
        prompt.changed.on(scope, () => note('${name} prompt'))
        jobs.subscribe(scope, 'all', ({ type }: any) => note('${name} job ' + type))
      }`,
      'inject: [Tools, Jobs, SystemPrompt],',
    )
  const catalog = 'extends: default\nplugins:\n  once: ./once.ts\n  often: ./often.ts\n  extra: { use: ./extra.ts, disabled: true }\n'
  const extra = plugin(
    'extra',
    "activate(scope: any, tools: any, prompt: any) { tools.register(scope, tool('extra', async () => 1)); prompt.section(scope, { name: 'extra', order: 5, text: 'More.' }) }",
    'inject: [Tools, SystemPrompt],',
  )
  const { runtime, notes, call } = await open({
    'tenon.yaml': catalog,
    'once.ts': listening('once'),
    'often.ts': listening('often'),
    'extra.ts': extra,
  })
  for (let time = 0; time < 20; time++) await runtime.reload('often')
  notes.length = 0
  expect(await call('bash', { command: 'true', description: 'does nothing' })).toMatchObject({ isError: false })
  expect(await runtime.apply({ enable: ['extra'] })).toMatchObject({ added: ['extra'] })
  expect(runtime.kernel.row('extra')?.phase).toBe('active')
  await expect.poll(() => notes.filter((text) => /(tools|prompt)$/.test(text)).length).toBeGreaterThanOrEqual(4)
  const heard = (name: string): readonly string[] => notes.filter((text) => text.startsWith(name)).map((text) => text.slice(name.length + 1))
  expect(heard('often')).toEqual(heard('once'))
  expect(heard('often')).toEqual(expect.arrayContaining(['tools', 'prompt', 'job registered', 'job settled', expect.stringMatching(/^call /)]))
})

it('B160 a second tool of one name lies over the first, is logged with both owners, and is there once after reloads', async () => {
  const greeting = (name: string): string =>
    plugin(name, `activate(scope: any, tools: any) { tools.register(scope, tool('greet', async () => '${name}')) }`, 'inject: [Tools],')
  const catalog = (rows: string): string => `plugins:\n  tools: tools\n${rows}`
  const { runtime, call, log } = await open({
    'tenon.yaml': catalog('  first: ./first.ts\n  second: ./second.ts\n'),
    'first.ts': greeting('first'),
    'second.ts': greeting('second'),
  })
  expect(log()).toContainEqual(expect.stringMatching(/"greet".*"(first|second)".*"(first|second)"/))
  await Promise.all([runtime.reload('first'), runtime.reload('second'), runtime.reload('second')])
  expect(
    runtime.kernel
      .get(Tools)
      ?.view()
      .tools.map(({ name }) => name),
  ).toEqual(['greet'])
  expect((await call('greet')).text).toBe('second')
  await runtime.apply({ disable: ['second'] })
  expect((await call('greet')).text).toBe('first')
})

it('B161 after reloads that fail in each way, the old code answers, a retry works, and dependents have never gone', async () => {
  const source = (word: string, more = ''): string =>
    plugin(
      'words',
      `activate(scope: any) { ${more} scope.provide(capability<any>('words'), { say: () => '${word}' }) }`,
      "provides: [capability<any>('words')],",
    )
  const speaker = plugin(
    'speaker',
    "activate(scope: any, tools: any, words: any) { tools.register(scope, tool('speak', async () => words.say())) }",
    "inject: [Tools, capability<any>('words')],",
  )
  const { runtime, call, write } = await open({
    'tenon.yaml': 'plugins:\n  tools: tools\n  words: ./words.ts\n  speaker: ./speaker.ts\n',
    'words.ts': source('one'),
    'speaker.ts': speaker,
  })
  const failures: readonly (readonly [source: string, fails: () => Promise<unknown>])[] = [
    ['export default {', () => expect(runtime.reload('words')).rejects.toMatchObject({ code: 'COMPOSITION_INVALID' })],
    ["throw new Error('at import')", () => expect(runtime.reload('words')).rejects.toMatchObject({ code: 'COMPOSITION_INVALID' })],
    [
      source('two', "throw new Error('in activate');"),
      async () => expect((await runtime.reload('words')).rolledBack?.message).toMatch(/in activate/),
    ],
  ]
  for (const [text, fails] of failures) {
    await write('words.ts', text)
    await fails()
    expect((await call('speak')).text).toBe('one')
    expect(runtime.kernel.row('speaker')?.phase).toBe('active')
  }
  await write('words.ts', source('three'))
  expect(await runtime.reload('words')).toMatchObject({ replaced: ['words'] })
  expect((await call('speak')).text).toBe('three')
})

it('B164 a plugin that closes a child of its own leaves its row as it is, in the tree and in the composition', async () => {
  const parent = plugin(
    'parent',
    "async activate(scope: any) { const child = scope.child('part'); child.defer(() => note('undone')); await child.close(); note('up') }",
  )
  const { runtime, notes } = await open({ 'tenon.yaml': 'plugins:\n  parent: ./parent.ts\n', 'parent.ts': parent })
  expect(notes).toEqual(['undone', 'up'])
  expect(runtime.kernel.row('parent')?.phase).toBe('active')
  expect(runtime.composition.rows.map(({ id, state }) => [id, state])).toEqual([['parent', 'active']])
})

it('B166 a fork follows an optional dependency that comes later and leaves, in a composition', async () => {
  const reader = plugin('reader', "activate(scope: any) { scope.inject([capability<any>('late')], () => note('there'), () => note('absent')) }")
  const late = plugin('late', "activate(scope: any) { scope.provide(capability<any>('late'), {}) }", "provides: [capability<any>('late')],")
  const { runtime, notes } = await open({
    'tenon.yaml': 'plugins:\n  reader: ./reader.ts\n  late: { use: ./late.ts, disabled: true }\n',
    'reader.ts': reader,
    'late.ts': late,
  })
  await runtime.apply({ enable: ['late'] })
  await runtime.apply({ disable: ['late'] })
  expect(notes).toEqual(['absent', 'there', 'absent'])
})

it('B167 what a plugin throws in a tool, a listener or a job hook stays its own fault: the host and other plugins go on', async () => {
  const bad = plugin(
    'bad',
    `activate(scope: any, tools: any, jobs: any) {
      tools.register(scope, tool('explode', async () => { throw new Error('in execute') }))
      tools.calls.on(scope, () => { throw new Error('in a listener') })
      jobs.subscribe(scope, 'all', () => { throw new Error('in a job listener') })
      scope.spawn(async () => { throw new Error('in spawned work') })
    }`,
    'inject: [Tools, Jobs],',
  )
  const { runtime, call } = await open({ 'tenon.yaml': 'extends: default\nplugins:\n  bad: ./bad.ts\n', 'bad.ts': bad })
  expect(await call('explode')).toMatchObject({ isError: true, text: expect.stringMatching(/in execute/) })
  expect(await call('bash', { command: 'echo on', description: 'goes on' })).toMatchObject({ isError: false, text: expect.stringMatching(/^on\n/) })
  const faults = (): readonly string[] =>
    runtime.kernel
      .inspect()
      .rows.find(({ id }) => id === 'bad')
      ?.faults.map(({ message }) => message) ?? []
  for (const what of ['in a listener', 'in a job listener', 'in spawned work']) {
    await expect.poll(faults).toContainEqual(expect.stringContaining(what))
  }
  expect(runtime.kernel.row('bad')?.phase).toBe('active')
})

it('B173 with a job running: an option of its shell, a renamed row, a broken file and its repair, and the job lives on', async () => {
  const catalog = (rows: string): string => `extends: default\nplugins:\n  mine: ./mine.ts\n${rows}`
  const mine = plugin('mine', 'activate() { note("mine up") }')
  const { runtime, session, notes, write, call } = await open({ 'tenon.yaml': catalog(''), 'mine.ts': mine }, true)
  const events: RuntimeEvent[] = []
  runtime.events.on(runtime.kernel.scope, (event) => void events.push(event))
  const next = async (): Promise<RuntimeEvent> => {
    await expect.poll(() => events.length).toBeGreaterThan(0)
    return events.shift() as RuntimeEvent
  }
  await call('bash', { command: 'exec sleep 300', description: 'waits', run_in_background: true })
  const jobs = (): Jobs => runtime.get(Jobs) as Jobs
  const [job] = jobs().list(session)
  const id = job?.id as NonNullable<typeof job>['id']

  await write('tenon.yaml', catalog('  shell: { with: { timeoutMs: 61000 } }\n'))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['shell'], replaced: [], added: [], removed: [] } })
  await write('tenon.yaml', catalog('  shell: { with: { timeoutMs: 61000 } }\n').replace('mine:', 'mine-too:'))
  expect(await next()).toMatchObject({ edit: { added: ['mine-too'], removed: ['mine'], reconfigured: [] } })
  await write('tenon.yaml', 'plugins: [')
  expect(await next()).toMatchObject({ type: 'refused', error: { code: 'COMPOSITION_INVALID' } })
  expect(jobs().get(id, session).status).toBe('running')
  await write('tenon.yaml', catalog('  shell: { with: { timeoutMs: 62000 } }\n').replace('mine:', 'mine-too:'))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['shell'], added: [], removed: [] } })
  expect(notes).toEqual(['mine up', 'mine up'])

  expect(
    jobs()
      .list(session)
      .map(({ id: other, status }) => [other, status]),
  ).toEqual([[id, 'running']])
  jobs().kill(id, session, { by: 'human', text: 'enough' })
  expect((await jobs().wait(id, 10_000, session)).outcome).toBe('settled')
})
