import systemPrompt from '@tenon/plugin-system-prompt'
import toolsRegistry from '@tenon/plugin-tools'
import { openSession, type Session } from '@tenon/session'
import { SystemPrompt } from '@tenon/system-prompt'
import { type Harness, harness, row } from '@tenon/testkit'
import { Tools } from '@tenon/tools'
import { describe, expect, it } from 'vitest'
import provider, { SessionNotes } from '../src/index.ts'
import tool from '../src/tool.ts'

const open = (app: Harness, id: string): Session => openSession(app.kernel.scope, { id, cwd: '/srv' })

describe('session-notes', () => {
  it('keeps the notes of each session to itself, and ends them with it', async () => {
    await using app = await harness([provider])
    const [one, two] = [open(app, 'one'), open(app, 'two')]
    const notes = app.get(SessionNotes)
    expect([notes.add(one, 'a'), notes.add(one, 'b'), notes.add(two, 'c')]).toEqual([1, 2, 1])
    expect([notes.list(one), notes.list(two)]).toEqual([['a', 'b'], ['c']])
    await one.scope.close()
    expect([notes.list(one), notes.list(two)]).toEqual([[], ['c']])
    expect(() => notes.add(one, 'late')).toThrow(expect.objectContaining({ code: 'SESSION_ENDED' }))
  })

  it('a new config and new code find the notes that were there; a value from before goes on working', async () => {
    await using app = await harness([row(provider, { maxNotes: 1 })])
    const session = open(app, 'one')
    const old = app.get(SessionNotes)
    old.add(session, 'first')
    expect(() => old.add(session, 'second')).toThrow(expect.objectContaining({ code: 'NOTES_FULL' }))
    await app.row('session-notes').replace({ ...provider }, { maxNotes: 3 })
    expect(app.get(SessionNotes)).not.toBe(old)
    expect(app.get(SessionNotes).add(session, 'second')).toBe(2)
    expect(old.list(session)).toEqual(['first', 'second'])
  })
})

describe('its tools', () => {
  it('write and read, and a note too many is an error that a model can act upon', async () => {
    await using app = await harness([row(provider, { maxNotes: 1 }), toolsRegistry, tool])
    const session = open(app, 'one')
    const { signal } = session.scope
    const call = (name: string, args: object) => app.get(Tools).execute({ name, arguments: args, session, signal })
    expect(await call('note_list', {})).toMatchObject({ isError: false, content: [{ text: '(no notes)' }] })
    expect(await call('note_add', { text: ' milk ' })).toMatchObject({ value: { number: 1 }, content: [{ text: 'noted as number 1' }] })
    expect(await call('note_list', {})).toMatchObject({ value: { notes: ['milk'] }, content: [{ text: '1. milk' }] })
    expect(await call('note_add', { text: 'eggs' })).toMatchObject({ isError: true, code: 'NOTES_FULL' })
    expect(await call('note_add', { text: '' })).toMatchObject({ isError: true, code: 'TOOL_ARGUMENTS' })
  })

  it('are spoken of in the system prompt exactly while there is one', async () => {
    await using app = await harness([provider, toolsRegistry, tool])
    await app.load(systemPrompt)
    expect((await app.get(SystemPrompt).assemble(open(app, 'one'))).text).toContain('note_add')
    await app.row('tool-session-notes').unload()
    await app.settled()
    expect((await app.get(SystemPrompt).assemble(open(app, 'two'))).text).not.toContain('note_add')
  })
})
