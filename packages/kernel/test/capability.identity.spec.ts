import { CodedError, capability, definePlugin, didYouMean, Kernel, KernelError } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'

describe('a capability', () => {
  it('KN-06 is its key: two copies of a contract meet', async () => {
    await using kernel = new Kernel(quiet)
    const mine = capability<string>('greeting')
    const yours = capability<string>('greeting')
    const seen: string[] = []
    kernel.load(definePlugin({ name: 'user', inject: [yours], activate: (_, greeting) => void seen.push(greeting) }))
    kernel.load(definePlugin({ name: 'provider', provides: [mine], activate: (scope) => scope.provide(mine, 'hello') }))
    await kernel.settled()
    expect([seen, kernel.get(yours), mine === yours]).toEqual([['hello'], 'hello', false])
  })

  it('KN-06 cannot be changed, and a key from a prototype is a key like any other', async () => {
    await using kernel = new Kernel(quiet)
    const odd = capability<string>('constructor')
    expect(Object.isFrozen(odd)).toBe(true)
    kernel.load(definePlugin({ name: 'user', inject: [odd], activate: () => undefined }))
    await kernel.settled()
    expect(kernel.row('user')?.phase).toBe('waiting')
    kernel.load(definePlugin({ name: 'provider', provides: [odd], activate: (scope) => scope.provide(odd, 'value') }))
    await kernel.settled()
    expect([kernel.get(odd), kernel.row('user')?.phase, kernel.row('constructor')]).toEqual(['value', 'active', undefined])
  })

  it.each(['', 'Shell', 'system_prompt', 'two words', '-a', 'a-', 'a--b', '1a', 'ä', 'a.b', undefined, 5])('KN-09 refuses the key %j', (key) => {
    expect(() => capability(key as string)).toThrow(expect.objectContaining({ code: 'CAPABILITY_KEY_INVALID' }))
  })
})

describe('an error of the kernel', () => {
  it('KN-09 is an Error with a code, a cause only where there is one, and its class as its name', () => {
    const cause = new Error('disk')
    const error = new KernelError('ACTIVATION_FAILED', 'row "x" failed', { cause, details: ['x'] })
    expect(error).toBeInstanceOf(CodedError)
    expect([error.name, error.code, error.message, error.cause, error.details]).toEqual([
      'KernelError',
      'ACTIVATION_FAILED',
      'row "x" failed',
      cause,
      ['x'],
    ])
    expect('cause' in new KernelError('SCOPE_CLOSED', 'closed')).toBe(false)
  })

  it('KN-09 suggests what was probably meant, and nothing far-fetched', () => {
    const known = ['local-bash', 'local-pwsh', 'tools']
    expect(['locl-bash', 'LocalBash', 'tool', 'jobs', ''].map((wrong) => didYouMean(wrong, known))).toEqual([
      'local-bash',
      'local-bash',
      'tools',
      undefined,
      undefined,
    ])
  })
})

describe('the log of a plugin', () => {
  it('KN-39 names its row and generation in every line', async () => {
    const lines: string[] = []
    const { default: pino } = await import('pino')
    await using kernel = new Kernel({ logger: pino({ base: null }, { write: (line: string) => void lines.push(line) }) })
    const row = kernel.load(definePlugin({ name: 'chatty', activate: (scope) => scope.log.info('up') }), undefined, { id: 'c' })
    await row.ready()
    await row.replace(definePlugin({ name: 'chatty', activate: (scope) => scope.log.info('up again') }))
    const told = lines.map((line) => JSON.parse(line) as { row?: string; generation?: number; msg: string }).filter(({ msg }) => msg.startsWith('up'))
    expect(told).toMatchObject([
      { row: 'c', generation: 1, msg: 'up' },
      { row: 'c', generation: 2, msg: 'up again' },
    ])
  })

  it('KN-10 what a row failed with is logged once, with its row and cause', async () => {
    const lines: string[] = []
    const { default: pino } = await import('pino')
    await using kernel = new Kernel({ logger: pino({ base: null }, { write: (line: string) => void lines.push(line) }) })
    kernel.load(traced([], 'broken', { fails: () => true }))
    await kernel.settled()
    const errors = lines
      .map((line) => JSON.parse(line) as { level: number; row?: string; err?: { message: string } })
      .filter(({ level }) => level >= 50)
    expect(errors).toMatchObject([{ row: 'broken', err: { message: expect.stringContaining('broken fails on run 1') } }])
  })
})

describe('a failing undo', () => {
  it('KN-01 is on the report of its row, and the row ends as it was asked to', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const plugin = (word: string) =>
      definePlugin({
        name: 'row',
        provides: [A],
        activate(scope) {
          scope.provide(A, word)
          scope.defer(() => void log.push(`${word} undone`))
          scope.defer(() => Promise.reject(new Error(`cannot undo ${word}`)))
        },
      })
    const row = kernel.load(plugin('one'))
    kernel.load(traced(log, 'user', { inject: [A], provides: [B] }))
    await kernel.settled()
    await row.replace(plugin('two'))
    await kernel.settled()
    expect(kernel.inspect().rows[0]).toMatchObject({ id: 'row', phase: 'active', faults: [{ what: 'undo', message: 'cannot undo one' }] })
    expect([kernel.get(A), log]).toEqual(['two', ['user up one', 'user down', 'one undone', 'user up two']])
    await row.unload()
    expect([row.phase, log.at(-1)]).toEqual(['unloaded', 'two undone'])
  })
})
