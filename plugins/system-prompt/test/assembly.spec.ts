import { setTimeout as later } from 'node:timers/promises'
import { definePlugin, Kernel, type Plugin, type Scope } from '@tenon/kernel'
import systemPrompt from '@tenon/plugin-system-prompt'
import { openSession, type Session } from '@tenon/session'
import { type PromptSection, SystemPrompt } from '@tenon/system-prompt'
import { recordedLog } from '@tenon/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let kernel: Kernel
let prompt: SystemPrompt
let session: Session
let complaints: () => readonly string[]
const changes: number[] = []
beforeEach(async () => {
  const { logger, lines } = recordedLog()
  complaints = () => lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  kernel = new Kernel({ logger })
  await kernel.load(systemPrompt, { sectionBudgetMs: 30 }).ready()
  prompt = kernel.get(SystemPrompt) as SystemPrompt
  session = openSession(kernel.scope, { id: 'one', cwd: '/one' })
  changes.length = 0
  prompt.changed.on(kernel.scope, ({ epoch }) => {
    changes.push(epoch)
  })
})
afterEach(() => kernel.close())

const add = (section: Partial<PromptSection> & { name: string }, scope: Scope = kernel.scope) => prompt.section(scope, { order: 0, ...section })
const textNow = async () => (await prompt.assemble(session)).text
async function drained(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('assembly', () => {
  it('TL-38 ordered by order and name, whatever the order of registration', async () => {
    const sections = [
      { name: 'b', order: 0, text: 'b0' },
      { name: 'a', order: 100, text: 'a100' },
      { name: 'B', order: 0, text: 'B0' },
      { name: 'z', order: -100, text: 'z-100' },
      { name: 'a0', order: 0.5, text: 'half' },
    ]
    for (const order of [sections, [...sections].reverse()]) {
      const scope = kernel.scope.child('plugin')
      for (const section of order) prompt.section(scope, section)
      expect(await textNow()).toBe('z-100\n\nB0\n\nb0\n\nhalf\n\na100')
      await scope.close()
    }
  })

  it("TL-38 empty sections are dropped, trailing blank lines are cut, none at all gives ''", async () => {
    expect(await prompt.assemble(session)).toEqual({ text: '', epoch: 0, omitted: [] })
    add({ name: 'a', text: 'first  \n\n \t\n' })
    add({ name: 'b', text: '' })
    add({ name: 'c', text: ' \n\t\n' })
    add({ name: 'd', render: () => '\n' })
    add({ name: 'e', text: '\n  indented\r\nlast\r\n\r\n' })
    expect(await textNow()).toBe('first  \n\n\n  indented\r\nlast')
  })

  it('TL-38 text is taken verbatim', async () => {
    const odd = 'a {{x}} $& $1 `code` %s'
    add({ name: 'a', text: odd })
    add({ name: 'b', render: () => odd })
    expect(await textNow()).toBe(`${odd}\n\n${odd}`)
  })

  it('TL-39 sections leave with their scope and stack by name', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((name) => kernel.scope.child(name)) as [Scope, Scope, Scope]
    add({ name: 's', text: '1' }, one)
    add({ name: 's', text: '2' }, two)
    add({ name: 's', text: '3' }, three)
    expect(await textNow()).toBe('3')
    await two.close()
    expect(await textNow()).toBe('3')
    await three.close()
    expect(await textNow()).toBe('1')
    await one.close()
    expect(await textNow()).toBe('')
    expect(() => add({ name: 's', text: '1' }, one)).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(await textNow()).toBe('')
  })

  it('TL-39 one change per tick, none if nothing visible changed', async () => {
    const covered = kernel.scope.child('covered')
    add({ name: 'a', text: '1' }, covered)
    add({ name: 'b', text: '2' }, covered)
    await drained()
    expect(changes).toHaveLength(1)
    add({ name: 'a', text: '1' })
    add({ name: 'b', text: '2\n' })
    await covered.close()
    const brief = kernel.scope.child('brief')
    add({ name: 'c', text: '3' }, brief)
    await brief.close()
    await drained()
    expect(changes).toHaveLength(1)
    add({ name: 'a', text: 'other' })
    await drained()
    expect(changes).toHaveLength(2)
    expect(changes[1]).toBe((await prompt.assemble(session)).epoch)
  })

  it('TL-39 with static sections only, the text is the same string until the epoch changes', async () => {
    add({ name: 'a', text: 'static' })
    const first = await prompt.assemble(session)
    expect(await prompt.assemble(session)).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
    add({ name: 'a', text: 'static' })
    expect(await prompt.assemble(session)).toBe(first)
    add({ name: 'b', text: 'more' })
    const second = await prompt.assemble(session)
    expect(second.epoch).toBeGreaterThan(first.epoch)
    expect(second.text).toBe('static\n\nmore')
  })

  it('TL-39 the reload of a plugin, and of this row, with equal sections announces nothing and keeps the epoch', async () => {
    const author = (text: string): Plugin<undefined> =>
      definePlugin({ name: 'author', inject: [SystemPrompt], activate: (scope, own) => own.section(scope, { name: 'a', order: 0, text }) })
    const row = kernel.load(author('same'))
    await row.ready()
    await drained()
    const before = await prompt.assemble(session)
    await row.replace(author('same'))
    await kernel.row('system-prompt')?.reconfigure({ sectionBudgetMs: 40 })
    await kernel.settled()
    await drained()
    expect(await prompt.assemble(session)).toEqual(before)
    expect(changes).toHaveLength(1)
    await row.replace(author('other'))
    await drained()
    expect(changes).toHaveLength(2)
    expect(await textNow()).toBe('other')
  })

  it('TL-40 fifty rendered sections are assembled without a warning, and leave no listener', async () => {
    const warnings: string[] = []
    const warned = ({ message }: Error) => void warnings.push(message)
    process.on('warning', warned)
    for (let n = 0; n < 50; n++) add({ name: `s${n}`, order: n, render: async () => later(1, `text ${n}`) })
    expect((await textNow()).split('\n\n')).toHaveLength(50)
    await drained()
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })

  it('TL-40 render gets the session at each assembly, and those of two sessions do not mix', async () => {
    const other = openSession(kernel.scope, { id: 'two', cwd: '/two' })
    let count = 0
    add({ name: 'a', text: 'static' })
    add({
      name: 'b',
      order: 1,
      render: async ({ session: of }) => {
        await Promise.resolve()
        return `${of.id} ${++count}`
      },
    })
    add({ name: 'c', order: 2, render: ({ session: of }) => of.cwd })
    const texts = await Promise.all([session, other, session].map(async (each) => (await prompt.assemble(each)).text))
    expect(texts).toEqual(['static\n\none 1\n\n/one', 'static\n\ntwo 2\n\n/two', 'static\n\none 3\n\n/one'])
  })

  const failing: [string, NonNullable<PromptSection['render']>, string][] = [
    [
      'throws',
      () => {
        throw new Error('broken')
      },
      'broken',
    ],
    ['rejects', () => Promise.reject(new Error('broken later')), 'broken later'],
    ['throws nothing of use', () => Promise.reject(undefined), '<unprintable thrown value>'],
    ['overruns', () => new Promise<string>(() => undefined), 'took longer than 30ms'],
    ['returns no string', () => 7 as never, 'returned no string'],
  ]
  it.each(failing)('TL-41 an optional section that %s is left out, listed and logged; the others are there', async (_how, render, reason) => {
    const scope = kernel.scope.child('author')
    add({ name: 'a', text: 'before' })
    add({ name: 'b', render }, scope)
    add({ name: 'c', text: 'after' })
    expect(await prompt.assemble(session)).toMatchObject({ text: 'before\n\nafter', omitted: [{ section: 'b', owner: 'author', reason }] })
    expect(complaints()).toEqual([`section "b" of "author" was left out: ${reason}`])
  })

  it.each(failing)('TL-41 a required section that %s fails the assembly, naming section and owner', async (_how, render, reason) => {
    add({ name: 'b', render, required: true }, kernel.scope.child('author'))
    await expect(prompt.assemble(session)).rejects.toMatchObject({
      name: 'PromptError',
      code: 'PROMPT_SECTION',
      message: `required section "b" of "author" failed: ${reason}`,
    })
  })

  it('a section that overruns is told by its signal', async () => {
    let signal: AbortSignal | undefined
    add({
      name: 'slow',
      render: (context) => {
        signal = context.signal
        return new Promise<string>(() => undefined)
      },
    })
    await prompt.assemble(session)
    expect(signal?.aborted).toBe(true)
  })

  it.each<[string, Partial<PromptSection>]>([
    ['name must not be blank', { name: '  ', text: 'a' }],
    ['name must not be blank', { name: 7 as never, text: 'a' }],
    ['order must be a finite number, not NaN', { order: Number.NaN, text: 'a' }],
    ['order must be a finite number, not Infinity', { order: Number.POSITIVE_INFINITY, text: 'a' }],
    ['exactly one of text and render', {}],
    ['exactly one of text and render', { text: 'a', render: () => 'b' }],
    ['text must be a string', { text: 7 as never }],
    ['render must be a function', { render: 'a' as never }],
    ['required must be a boolean', { text: 'a', required: 'yes' as never }],
  ])('TL-42 refused without residue: %s', async (problem, section) => {
    expect(() => add({ name: 's', ...section })).toThrow(
      expect.objectContaining({ code: 'PROMPT_INVALID', message: expect.stringContaining(problem) }),
    )
    await drained()
    expect(changes).toEqual([])
    expect(await prompt.assemble(session)).toEqual({ text: '', epoch: 0, omitted: [] })
  })

  it('TL-42 an abort rejects with its reason, at once and beforehand', async () => {
    const reason = new Error('mine')
    add({ name: 'static', text: 'a' })
    await expect(prompt.assemble(session, AbortSignal.abort(reason))).rejects.toBe(reason)
    const hung = new Promise<string>(() => undefined)
    const controller = new AbortController()
    add({ name: 'hung', required: true, render: () => hung })
    const assembled = prompt.assemble(session, controller.signal)
    await later(1)
    controller.abort(reason)
    await expect(assembled).rejects.toBe(reason)
  })
})
