import { Kernel } from '@tenon/kernel'
import { ShellEnv } from '@tenon/shell-env'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContributorRegistry } from '../src/contributor-registry.ts'
import shellEnv from '../src/index.ts'

describe('plugin-shell-env', () => {
  let kernel: Kernel
  beforeEach(() => {
    kernel = new Kernel()
  })
  afterEach(() => kernel[Symbol.asyncDispose]())

  it('SH-49 takes TENON_HOME from its config', async () => {
    await kernel.load(shellEnv, { home: '/etc/tenon' }).ready()
    expect(kernel.get(ShellEnv)?.collect({}).TENON_HOME).toBe('/etc/tenon')
  })

  it.each([
    [{ home: 'etc/tenon' }, 'home'],
    [{ homes: '/etc' }, 'homes'],
  ])('SH-49 refuses the config %j', (config: object, field) => {
    expect(() => kernel.load(shellEnv, config)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(field) }))
  })
})

describe('what the registry logs', () => {
  it('SH-51 a contributor that fails for every command is told of once, and again after it had recovered', () => {
    const told: string[] = []
    const registry = new ContributorRegistry({}, (error, contributor) => told.push(`${contributor}: ${error.message}`))
    const kernel = new Kernel()
    let fails = true
    registry.register(kernel.scope, {
      name: 'flaky',
      variables: { TENON_A: 'A.' },
      resolve: () => {
        if (fails) throw new Error('not yet')
        return { TENON_A: 'a' }
      },
    })
    registry.collect({})
    registry.collect({})
    expect(told).toEqual(['flaky: not yet'])
    fails = false
    expect(registry.collect({})).toEqual({ TENON_A: 'a' })
    fails = true
    registry.collect({})
    expect(told).toEqual(['flaky: not yet', 'flaky: not yet'])
  })
})
