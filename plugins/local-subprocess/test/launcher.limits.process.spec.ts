import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { kill, launcherOf, openLaunched, saidAs, textOf } from './open-launched.ts'
import { type Opened, sh, spec } from './open-provider.ts'

const hard = Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])

async function limitsOf({ subprocess }: Opened): Promise<string> {
  const handle = subprocess.spawn(sh('echo $(ulimit -Sn) $(ulimit -Hn)'))
  await handle.done
  return textOf(handle)
}

it('LN-12 the limit that the world tells is that of every command, by the next launcher too', async () => {
  const opened = await openLaunched({ world: { descriptorLimit: { soft: 300, hard } } })
  expect(await limitsOf(opened)).toBe(`300 ${hard}\n`)
  await kill(opened)
  await opened.runtime.launcher.idle()
  expect(launcherOf(opened)).not.toBe(opened.launcher)
  expect(await limitsOf(opened)).toBe(`300 ${hard}\n`)
  expect(saidAs(opened, 'debug').filter((message) => message.includes('limit'))).toEqual([])
})

it('LN-12 under the lowest limit that is set any number of commands runs at once', async () => {
  const opened = await openLaunched({ world: { descriptorLimit: { soft: 64, hard } } })
  const handles = Array.from({ length: 150 }, () => opened.subprocess.spawn(spec(['sleep', '600'])))
  expect(new Set(await Promise.all(handles.map(({ started }) => started)))).toEqual(new Set([true]))
  expect(await limitsOf(opened)).toBe(`64 ${hard}\n`)
  expect(saidAs(opened, 'warn')).toEqual([])
})

it('LN-12 where the limit cannot be set, one debug line says so, and commands run with the one there is', async () => {
  // prlimit takes no soft limit above the hard one.
  const opened = await openLaunched({ world: { descriptorLimit: { soft: 200, hard: 100 } } })
  expect(await limitsOf(opened)).toBe(`${hard} ${hard}\n`)
  expect(saidAs(opened, 'debug').filter((message) => message.includes('limit of open descriptors'))).toHaveLength(1)
  expect(saidAs(opened, 'warn')).toEqual([])
})

it('LN-12 where nothing is to be restored, prlimit is not run', async () => {
  const opened = await openLaunched({ world: { descriptorLimit: undefined } })
  expect(await limitsOf(opened)).toBe(`${hard} ${hard}\n`)
})
