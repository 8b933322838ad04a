import { capability, definePlugin } from '@tenon/kernel'
import { harness, providing, row } from '@tenon/testkit'
import { describe, expect, it } from 'vitest'

const Clock = capability<{ now(): number }>('clock')
const Greeting = capability<string>('greeting')
const clock = { now: () => 5 }

const greeter = definePlugin({
  name: 'greeter',
  inject: [Clock],
  provides: [Greeting],
  activate: (scope, time) => scope.provide(Greeting, `hello at ${time.now()}`),
})

describe('a harness', () => {
  it('loads plugins and rows, settles, and gives their capabilities and rows', async () => {
    await using app = await harness([providing(Clock, clock), row(greeter)])
    expect([app.get(Greeting), app.get(Clock), app.row('greeter').phase]).toEqual(['hello at 5', clock, 'active'])
    await app.row('providing-clock').replace(providing(Clock, { now: () => 6 }))
    await app.settled()
    expect(app.get(Greeting)).toBe('hello at 6')
  })

  it('fails with the tree of causes when a row is not active, and has closed everything then', async () => {
    const undone: string[] = []
    const broken = definePlugin({
      name: 'clock',
      provides: [Clock],
      activate(scope) {
        scope.defer(() => void undone.push('clock'))
        throw new Error('no battery')
      },
    })
    const bystander = definePlugin({ name: 'bystander', activate: (scope) => scope.defer(() => void undone.push('bystander')) })
    await expect(harness([bystander, broken, row(greeter)])).rejects.toMatchObject({
      code: 'ROW_NOT_ACTIVE',
      message: expect.stringMatching(/not active: clock, greeter.*greeter.*"clock".*no battery/s),
      details: ['clock', 'greeter'],
    })
    expect(undone).toEqual(['clock', 'bystander'])
  })

  it('takes a row that waits when the test says so', async () => {
    await using app = await harness([row(greeter)], { inactive: ['greeter'] })
    expect(app.row('greeter').phase).toBe('waiting')
    await app.load(providing(Clock, clock))
    expect(app.row('greeter').phase).toBe('active')
  })

  it('passes on what `load` refuses', async () => {
    await expect(harness([row(greeter, { word: 5 } as never)], { inactive: ['greeter'] })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(harness([row(greeter), row(greeter)])).rejects.toMatchObject({ code: 'PLUGIN_LOADED_TWICE' })
  })

  it('loads one plugin under two ids', async () => {
    await using app = await harness([
      definePlugin({ name: 'plain', activate: () => undefined }),
      row(definePlugin({ name: 'plain', activate: () => undefined }), undefined, { id: 'other' }),
    ])
    expect([app.row('plain').name, app.row('other').name]).toEqual(['plain', 'plain'])
  })

  it('says what is not there, and what was probably meant', async () => {
    await using app = await harness([providing(Clock, clock)])
    expect(() => app.get(Greeting)).toThrow(expect.objectContaining({ code: 'NOT_LOADED', message: expect.stringContaining('"greeting"') }))
    expect(() => app.row('providing-clok')).toThrow(expect.objectContaining({ message: expect.stringContaining('"providing-clock"') }))
  })

  it('closes once, and the second close is the same', async () => {
    const app = await harness([providing(Clock, clock)])
    const closing = app.close()
    expect(app.close()).toBe(closing)
    await closing
    expect(() => app.kernel.load(providing(Clock, clock))).toThrow(expect.objectContaining({ code: 'KERNEL_CLOSED' }))
  })

  it('fails a hung activation within its own short budget', async () => {
    const hung = definePlugin({ name: 'hung', activate: () => new Promise<void>(() => undefined) })
    await expect(harness([hung], { budgets: { activationMs: 30 } })).rejects.toMatchObject({
      code: 'ROW_NOT_ACTIVE',
      message: expect.stringContaining('hung'),
    })
  })
})
