import { Scope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import type { ShellEnv, ShellEnvContributor } from '../index.ts'

/** One provider under test. */
export interface ShellEnvWorld {
  readonly env: ShellEnv
  /** Names of the contributors of which the provider has logged a fault so far. */
  faults(): readonly string[]
  close(): Promise<void>
}

/** What every provider of `shell-env` holds. `open` makes a fresh one. */
export function describeShellEnv(provider: string, open: () => Promise<ShellEnvWorld>): void {
  const contributor = (name: string, values: Record<string, string | undefined>): ShellEnvContributor => ({
    name,
    variables: Object.fromEntries(Object.keys(values).map((key) => [key, `What ${key} tells.`])),
    resolve: () => values,
  })

  const world = async (body: (world: ShellEnvWorld & { scope: Scope }) => void | Promise<void>): Promise<void> => {
    const opened = await open()
    const scope = new Scope('a plugin')
    try {
      await body({ ...opened, scope })
    } finally {
      await scope.close()
      await opened.close()
    }
  }

  describe(`shell-env by ${provider}`, () => {
    it('SH-49 tells every command that it runs in a shell of the runtime, and an absolute home', () =>
      world(({ env }) => {
        const variables = env.collect({})
        expect(variables.TENON_SHELL).toBe('1')
        expect(variables.TENON_HOME).toMatch(/^(\/|[A-Za-z]:\\)/)
      }))

    it('SH-49 names the session only if there is one', () =>
      world(({ env }) => {
        expect(env.collect({ sessionId: 's-1' }).TENON_SESSION_ID).toBe('s-1')
        expect(env.collect({})).not.toHaveProperty('TENON_SESSION_ID')
      }))

    it.each([
      ['a name that is not kebab-case', contributor('Web Console', {}), 'NAME_INVALID'],
      ['an empty name', contributor('', {}), 'NAME_INVALID'],
      ['a key without the prefix', contributor('web', { CONSOLE_URL: 'x' }), 'KEY_INVALID'],
      ['a key in lower case', contributor('web', { TENON_url: 'x' }), 'KEY_INVALID'],
      ['a key that is the prefix alone', contributor('web', { TENON_: 'x' }), 'KEY_INVALID'],
      ['a key with a digit after the prefix', contributor('web', { TENON_1: 'x' }), 'KEY_INVALID'],
      ['a blank description', { name: 'web', variables: { TENON_URL: ' \n' }, resolve: () => ({}) }, 'KEY_INVALID'],
      ['a built-in key', contributor('web', { TENON_HOME: '/' }), 'KEY_RESERVED'],
      ['the key by which processes are found', contributor('web', { TENON_PROCESS: 'x' }), 'KEY_RESERVED'],
    ])('SH-50 %s is refused', (_what, wrong, code) =>
      world(({ env, scope }) => {
        expect(() => env.register(scope, wrong)).toThrow(expect.objectContaining({ code }))
        expect(env.list()).toEqual([])
      }),
    )

    it('SH-50 a name is taken once', () =>
      world(({ env, scope }) => {
        env.register(scope, contributor('web', { TENON_A: 'a' }))
        expect(() => env.register(scope, contributor('web', { TENON_B: 'b' }))).toThrow(expect.objectContaining({ code: 'NAME_TAKEN' }))
        expect(env.list().map(({ key }) => key)).toEqual(['TENON_A'])
      }))

    it('SH-50 a key is taken once, all of the second contributor is refused, and the message names both', () =>
      world(({ env, scope }) => {
        env.register(scope, contributor('first', { TENON_A: 'a' }))
        expect(() => env.register(scope, contributor('second', { TENON_B: 'b', TENON_A: 'x' }))).toThrow(
          expect.objectContaining({ code: 'KEY_TAKEN', message: expect.stringMatching(/second.*first|first.*second/) }),
        )
        expect(env.collect({})).not.toHaveProperty('TENON_B')
      }))

    it('SH-51 contributors run in name order, with the session they are asked for', () =>
      world(({ env, scope }) => {
        const ran: unknown[] = []
        for (const name of ['zeta', 'alpha', 'mid-way']) {
          env.register(scope, {
            name,
            variables: {},
            resolve: (context) => {
              ran.push([name, context.sessionId])
              return {}
            },
          })
        }
        env.collect({ sessionId: 's-1' })
        expect(ran).toEqual([
          ['alpha', 's-1'],
          ['mid-way', 's-1'],
          ['zeta', 's-1'],
        ])
      }))

    it('SH-51 undefined omits a variable without a fault', () =>
      world(({ env, scope, faults }) => {
        env.register(scope, contributor('web', { TENON_A: undefined, TENON_B: 'b' }))
        const variables = env.collect({})
        expect(variables.TENON_B).toBe('b')
        expect(variables).not.toHaveProperty('TENON_A')
        expect(faults()).toEqual([])
      }))

    const faulty: [string, () => unknown][] = [
      [
        'throws',
        () => {
          throw new Error('no address yet')
        },
      ],
      [
        'throws what is no error',
        () => {
          throw 'no address yet'
        },
      ],
      [
        'throws what cannot be read',
        () => {
          const { proxy, revoke } = Proxy.revocable({}, {})
          revoke()
          throw proxy
        },
      ],
      ['returns a key it did not declare', () => ({ TENON_A: 'a', TENON_OTHER: 'x' })],
      ['returns a built-in key', () => ({ TENON_A: 'a', TENON_HOME: '/' })],
      ['returns what is no string', () => ({ TENON_A: 7 })],
      ['returns text no variable can hold', () => ({ TENON_A: 'a\0b' })],
      ['returns a promise', () => Promise.resolve({ TENON_A: 'a' })],
      ['returns a promise that is rejected later', () => Promise.reject(new Error('late'))],
      ['returns nothing', () => undefined],
    ]
    it.each(faulty)('SH-51 one that %s loses only its own contribution and is logged by name', (_what, resolve) =>
      world(({ env, scope, faults }) => {
        env.register(scope, { name: 'broken', variables: { TENON_A: 'A.' }, resolve: resolve as ShellEnvContributor['resolve'] })
        env.register(scope, contributor('web', { TENON_B: 'b' }))
        const variables = env.collect({})
        expect(variables).not.toHaveProperty('TENON_A')
        expect(variables).toMatchObject({ TENON_B: 'b', TENON_SHELL: '1' })
        expect(faults()).toEqual(['broken'])
      }),
    )

    it('SH-52 the end of a scope removes its contributors, and their names and keys are free again', () =>
      world(async ({ env, scope }) => {
        const short = scope.child('short')
        env.register(short, contributor('web', { TENON_A: 'a' }))
        expect(env.collect({}).TENON_A).toBe('a')
        await short.close()
        expect(env.collect({})).not.toHaveProperty('TENON_A')
        expect(env.list()).toEqual([])
        env.register(scope, contributor('web', { TENON_A: 'again' }))
        expect(env.collect({}).TENON_A).toBe('again')
        expect(() => env.register(short, contributor('late', { TENON_LATE: 'x' }))).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
        expect(env.collect({})).not.toHaveProperty('TENON_LATE')
      }))

    it('SH-52 list() is sorted by key, runs no resolver and leaves the built-ins out', () =>
      world(({ env, scope }) => {
        const resolve = (): never => {
          throw new Error('list must not ask')
        }
        env.register(scope, { name: 'b', variables: { TENON_Z: 'Z.', TENON_A: 'A.' }, resolve })
        env.register(scope, { name: 'a', variables: { TENON_M: 'M.' }, resolve })
        expect(env.list()).toEqual([
          { contributor: 'b', key: 'TENON_A', description: 'A.' },
          { contributor: 'a', key: 'TENON_M', description: 'M.' },
          { contributor: 'b', key: 'TENON_Z', description: 'Z.' },
        ])
      }))

    it('SH-52 collect() is frozen and sorted, and leaves the environment of the host alone', () =>
      world(({ env, scope }) => {
        const before = { ...process.env }
        env.register(scope, contributor('web', { TENON_ZZ: 'z', TENON_AA: 'a' }))
        const variables = env.collect({ sessionId: 's-1' })
        expect(Object.isFrozen(variables)).toBe(true)
        expect(Object.keys(variables)).toEqual(Object.keys(variables).toSorted())
        expect({ ...process.env }).toEqual(before)
      }))
  })
}
