import { definePlugin, Kernel, type Logger } from '@tenon/kernel'
import { ShellEnv, type ShellEnvContributor, ShellEnvError } from '@tenon/shell-env'
import { describe, expect, it, onTestFinished } from 'vitest'
import shellEnv from '../src/index.ts'

const quiet = (): void => undefined

/** A row of the plugin, and rows that contribute to it. */
async function opened() {
  const logger: object = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet, child: () => logger }
  const kernel = new Kernel({ logger: logger as Logger })
  onTestFinished(() => kernel.close())
  await kernel.load(shellEnv, { home: '/h' }).ready()
  const env = kernel.get(ShellEnv)
  if (env === undefined) throw new Error('nobody provides shell-env')
  return { kernel, env }
}

const contributor = (name: string, variables: Record<string, string>, resolve: ShellEnvContributor['resolve'] = () => ({})): ShellEnvContributor => ({
  name,
  variables,
  resolve,
})

describe('registering a contributor', () => {
  it.each<[string, ShellEnvContributor, string, RegExp]>([
    ['a blank name', contributor('', {}), 'NAME_INVALID', /kebab-case/],
    ['a name with a capital', contributor('Web', {}), 'NAME_INVALID', /"Web"/],
    ['a name of two words', contributor('web console', {}), 'NAME_INVALID', /"web console"/],
    ['a name that ends in a hyphen', contributor('web-', {}), 'NAME_INVALID', /"web-"/],
    ['a name that is no text', contributor(7 as unknown as string, {}), 'NAME_INVALID', /7/],
    ['a key of another prefix', contributor('web', { CONSOLE_URL: 'x' }), 'KEY_INVALID', /CONSOLE_URL.*TENON_/],
    ['a key in lower case', contributor('web', { tenon_url: 'x' }), 'KEY_INVALID', /tenon_url/],
    ['a key with another sign', contributor('web', { 'TENON_A-B': 'x' }), 'KEY_INVALID', /TENON_A-B/],
    ['a key that hides a line', contributor('web', { 'TENON_A\nX': 'x' }), 'KEY_INVALID', /TENON_A/],
    ...['TENON_HOME', 'TENON_SHELL', 'TENON_SESSION_ID', 'TENON_PROFILE', 'TENON_PROFILE_DIR', 'TENON_PROCESS'].map(
      (key): [string, ShellEnvContributor, string, RegExp] => [
        `the built-in ${key}`,
        contributor('web', { TENON_OTHER: 'x', [key]: 'x' }),
        'KEY_RESERVED',
        new RegExp(key),
      ],
    ),
    ['an empty description', contributor('web', { TENON_URL: '' }), 'KEY_INVALID', /TENON_URL has no description/],
    ['a blank description', contributor('web', { TENON_URL: ' \t\n' }), 'KEY_INVALID', /TENON_URL has no description/],
    ['a description that is no text', contributor('web', { TENON_URL: 7 as unknown as string }), 'KEY_INVALID', /TENON_URL has no description/],
  ])('SH-50 %s is refused, naming it, and nothing of it stays', async (_what, wrong, code, message) => {
    const { kernel, env } = await opened()
    expect(() => env.register(kernel.scope, wrong)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
    expect(() => env.register(kernel.scope, wrong)).toThrow(ShellEnvError)
    expect(env.list()).toEqual([])
    // The name is free, and so is what it would have declared beside the wrong one.
    env.register(kernel.scope, contributor('web', { TENON_OTHER: 'Other.' }))
    expect(env.list()).toEqual([{ contributor: 'web', key: 'TENON_OTHER', description: 'Other.' }])
  })

  it('SH-50 a name in use is refused, and a key in use with both owners; what there was stays as it was', async () => {
    const { kernel, env } = await opened()
    env.register(
      kernel.scope,
      contributor('first', { TENON_A: 'A.', TENON_B: 'B.' }, () => ({ TENON_A: 'a' })),
    )
    expect(() => env.register(kernel.scope, contributor('first', { TENON_C: 'C.' }))).toThrow(
      expect.objectContaining({ code: 'NAME_TAKEN', message: expect.stringContaining('"first"') }),
    )
    expect(() => env.register(kernel.scope, contributor('second', { TENON_C: 'C.', TENON_B: 'B.' }))).toThrow(
      expect.objectContaining({ code: 'KEY_TAKEN', message: expect.stringMatching(/"second".*TENON_B.*"first"/) }),
    )
    expect(env.collect({})).toEqual({ TENON_A: 'a', TENON_HOME: '/h', TENON_SHELL: '1' })
    env.register(kernel.scope, contributor('second', { TENON_C: 'C.' }))
    expect(env.list().map(({ key }) => key)).toEqual(['TENON_A', 'TENON_B', 'TENON_C'])
  })

  it('SH-50 a plugin that registers a taken key fails by its own row, and works when the owner has gone', async () => {
    const { kernel, env } = await opened()
    const plugin = (name: string) =>
      definePlugin({
        name,
        inject: [ShellEnv],
        activate: (scope, provided) => provided.register(scope, contributor(name, { TENON_A: 'A.' })),
      })
    const first = kernel.load(plugin('first'), undefined, { id: 'first' })
    await first.ready()
    const second = kernel.load(plugin('second'), undefined, { id: 'second' })
    await expect(second.ready()).rejects.toThrow(/TENON_A/)
    expect(env.list().map(({ contributor: owner }) => owner)).toEqual(['first'])
    await first.unload()
    await second.unload()
    expect(env.list()).toEqual([])
    await kernel.load(plugin('second'), undefined, { id: 'again' }).ready()
    expect(env.list().map(({ contributor: owner }) => owner)).toEqual(['second'])
  })
})

describe('what is collected and listed', () => {
  it('SH-52 a contributor is gone when its scope ends, wherever it stands among the others, and may come again', async () => {
    const { kernel, env } = await opened()
    const scopes = ['a', 'b', 'c'].map((name) => {
      const scope = kernel.scope.child(name)
      const key = `TENON_${name.toUpperCase()}`
      env.register(
        scope,
        contributor(name, { [key]: `${name}.` }, () => ({ [key]: name })),
      )
      return scope
    })
    expect(Object.keys(env.collect({}))).toEqual(['TENON_A', 'TENON_B', 'TENON_C', 'TENON_HOME', 'TENON_SHELL'])
    await scopes[1]?.close()
    expect(Object.keys(env.collect({}))).toEqual(['TENON_A', 'TENON_C', 'TENON_HOME', 'TENON_SHELL'])
    expect(env.list().map(({ contributor: owner }) => owner)).toEqual(['a', 'c'])
    env.register(
      kernel.scope,
      contributor('b', { TENON_B: 'Again.' }, () => ({ TENON_B: 'again' })),
    )
    expect(env.collect({}).TENON_B).toBe('again')
    await Promise.all([scopes[0]?.close(), scopes[2]?.close()])
    expect(env.list()).toEqual([{ contributor: 'b', key: 'TENON_B', description: 'Again.' }])
  })

  it('SH-52 the list is by key, runs no resolver, has no built-in, and is what was declared, whatever a contributor does to itself later', async () => {
    const { kernel, env } = await opened()
    let resolved = 0
    const variables: Record<string, string> = { TENON_Z: 'Z.', TENON_A1: 'A1.', TENON_A: 'A.', TENON_A_B: 'AB.' }
    env.register(
      kernel.scope,
      contributor('zoo', variables, () => {
        resolved++
        return {}
      }),
    )
    variables.TENON_LATER = 'Later.'
    const listed = env.list()
    expect(listed.map(({ key }) => key)).toEqual(['TENON_A', 'TENON_A1', 'TENON_A_B', 'TENON_Z'])
    expect(listed.every(({ contributor: owner }) => owner === 'zoo')).toBe(true)
    expect(resolved).toBe(0)
  })

  it('SH-52 B157 a collection is frozen, sorted, made anew each time, and the environment of the host is neither read into it nor changed', async () => {
    process.env.TENON_STALE = 'outer'
    onTestFinished(() => {
      delete process.env.TENON_STALE
    })
    const { kernel, env } = await opened()
    env.register(
      kernel.scope,
      contributor('web', { TENON_B: 'B.', TENON_A: 'A.' }, ({ sessionId }) => ({ TENON_B: sessionId, TENON_A: '' })),
    )
    const before = { ...process.env }
    const collected = env.collect({ sessionId: 's-1' })
    expect(Object.entries(collected)).toEqual([
      ['TENON_A', ''],
      ['TENON_B', 's-1'],
      ['TENON_HOME', '/h'],
      ['TENON_SESSION_ID', 's-1'],
      ['TENON_SHELL', '1'],
    ])
    expect(Object.isFrozen(collected)).toBe(true)
    expect(() => Object.assign(collected, { TENON_X: 'x' })).toThrow(TypeError)
    expect(env.collect({})).toEqual({ TENON_A: '', TENON_HOME: '/h', TENON_SHELL: '1' })
    expect(collected.TENON_B).toBe('s-1')
    expect({ ...process.env }).toEqual(before)
  })
})
