import { definePlugin, Kernel, type KernelError, type Plugin } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { quiet } from './quiet.ts'

const schema = z.strictObject({
  shellPath: z.string().default('/bin/sh'),
  limits: z.strictObject({ maxBytes: z.int().positive().default(1024), timeoutMs: z.int().positive() }),
  tags: z.array(z.string()).default([]),
})

function configured(log: unknown[]): Plugin<z.input<typeof schema>> {
  return definePlugin({ name: 'configured', config: schema, activate: (scope) => void log.push(scope.config) })
}

function thrownBy(work: () => unknown): KernelError {
  try {
    work()
  } catch (error) {
    return error as KernelError
  }
  throw new Error('nothing was thrown')
}

const wrong = { shelPath: '/bin/bash', limits: { maxBytes: -1, timeoutMs: '5s' }, tags: ['ok', 3] } as unknown as z.input<typeof schema>

describe('config', () => {
  it('KN-09 is parsed before `activate`, defaults filled in', async () => {
    await using kernel = new Kernel(quiet)
    const log: unknown[] = []
    kernel.load(configured(log), { limits: { timeoutMs: 5 } })
    await kernel.settled()
    expect(log).toEqual([{ shellPath: '/bin/sh', limits: { maxBytes: 1024, timeoutMs: 5 }, tags: [] }])
  })

  it('KN-09 all faults are reported at once with their paths and a suggestion, and nothing is loaded', async () => {
    await using kernel = new Kernel(quiet)
    const log: unknown[] = []
    const error = thrownBy(() => kernel.load(configured(log), wrong))
    expect(error.code).toBe('CONFIG_INVALID')
    for (const part of ['configured', 'shelPath', 'shellPath', 'limits.maxBytes', 'limits.timeoutMs', 'tags']) expect(error.message).toContain(part)
    expect(error.message).toMatch(/tags[.[]1/)
    await kernel.settled()
    expect([log, kernel.row('configured'), kernel.inspect().rows]).toEqual([[], undefined, []])
    kernel.load(configured(log), { limits: { timeoutMs: 5 } })
    await kernel.settled()
    expect(log).toHaveLength(1)
  })

  it('KN-09 a missing config of a plugin that needs one is refused', async () => {
    await using kernel = new Kernel(quiet)
    const load = kernel.load.bind(kernel) as (plugin: Plugin) => unknown
    expect(thrownBy(() => load(configured([]) as Plugin)).code).toBe('CONFIG_INVALID')
  })

  it('KN-09 a config for a plugin that takes none is refused rather than ignored', async () => {
    await using kernel = new Kernel(quiet)
    const plain: Plugin = definePlugin({ name: 'plain', activate: () => undefined }) as Plugin
    expect(thrownBy(() => kernel.load(plain, { colour: 'red' })).code).toBe('CONFIG_INVALID')
    expect(kernel.row('plain')).toBeUndefined()
  })

  it('KN-09 `reconfigure` with an invalid config rejects without any effect', async () => {
    await using kernel = new Kernel(quiet)
    const log: unknown[] = []
    const row = kernel.load(configured(log), { limits: { timeoutMs: 5 } })
    await row.ready()
    await expect(row.reconfigure(wrong)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('limits.timeoutMs') })
    await drained()
    expect([row.phase, log.length, kernel.inspect().rows[0]?.generation]).toEqual(['active', 1, 1])
  })

  it.each([
    [
      'a transform that throws',
      z.string().transform((): string => {
        throw new Error('broken schema')
      }),
    ],
    ['an asynchronous refinement', z.string().refine(async () => true)],
  ])('KN-09 %s is a config error too, and the id stays free', async (_, config) => {
    await using kernel = new Kernel(quiet)
    const broken = definePlugin({ name: 'broken', config, activate: () => undefined })
    expect(thrownBy(() => kernel.load(broken, 'x')).code).toBe('CONFIG_INVALID')
    expect(kernel.row('broken')).toBeUndefined()
  })

  it('KN-09 the config a row holds does not change with the object it was given', async () => {
    await using kernel = new Kernel(quiet)
    const log: unknown[] = []
    const given = { limits: { timeoutMs: 5 } }
    kernel.load(configured(log), given)
    given.limits.timeoutMs = -1
    await kernel.settled()
    expect(log).toEqual([expect.objectContaining({ limits: { maxBytes: 1024, timeoutMs: 5 } })])
  })
})

describe('load', () => {
  const plain = definePlugin({ name: 'plain', activate: () => undefined })

  it('KN-09 B160 refuses an id in use, and takes the same plugin under another id', async () => {
    await using kernel = new Kernel(quiet)
    const first = kernel.load(plain)
    expect(thrownBy(() => kernel.load(plain))).toMatchObject({ code: 'PLUGIN_LOADED_TWICE', message: expect.stringContaining('plain') })
    const second = kernel.load(plain, undefined, { id: 'other' })
    await kernel.settled()
    expect([first.id, first.name, first.phase, second.id, second.name, second.phase]).toEqual([
      'plain',
      'plain',
      'active',
      'other',
      'plain',
      'active',
    ])
    expect(kernel.row('other')).toBe(second)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, 1.5, 2 ** 31, '5s' as unknown as number])(
    'KN-09 B172 a budget of %s is refused with the name of the option, wherever it is given',
    async (value) => {
      for (const option of ['activationMs', 'undoMs'] as const) {
        const refused = expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(option) })
        expect(() => new Kernel({ ...quiet, budgets: { [option]: value } })).toThrow(refused)
        await using kernel = new Kernel(quiet)
        expect(() => kernel.load(plain, undefined, { budgets: { [option]: value } })).toThrow(refused)
        expect(() => kernel.load(definePlugin({ name: 'plain', budgets: { [option]: value }, activate: () => undefined }))).toThrow(refused)
        expect(kernel.inspect().rows).toEqual([])
      }
    },
  )

  it.each([1, 2 ** 31 - 1])('KN-09 B172 a budget of %s is taken', async (value) => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: value, undoMs: value } })
    await kernel.load(plain, undefined, { budgets: { activationMs: value } }).ready()
  })

  it('KN-09 a name or a capability key that is not kebab-case is refused where it is defined', () => {
    expect(() => definePlugin({ name: 'Not Kebab', activate: () => undefined })).toThrow(expect.objectContaining({ code: 'CAPABILITY_KEY_INVALID' }))
    expect(() => definePlugin({ name: 'plain', inject: [undefined as never], activate: () => undefined })).toThrow(
      expect.objectContaining({ code: 'CAPABILITY_KEY_INVALID', message: expect.stringContaining('inject[0]') }),
    )
  })
})
