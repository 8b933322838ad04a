import { expect, it } from 'vitest'
import { parentOf } from './open-launched.ts'
import { LAUNCHER, openProvider } from './open-provider.ts'
import { startHost } from './run-host.ts'

it('LN-01 in this run the commands of a test are started by whom the run is about', async () => {
  const opened = await openProvider()
  const { pid } = opened.runtime.launcher
  expect(pid === undefined).toBe(LAUNCHER === 'host')
  expect(await parentOf(opened)).toBe(LAUNCHER === 'host' ? process.pid : pid)
})

it('LN-01 and so are those of a host of its own', async () => {
  const host = startHost(['parent'])
  const { parent } = (await host.ended).facts[0] as { parent: number }
  expect(parent === host.child.pid).toBe(LAUNCHER === 'host')
})
