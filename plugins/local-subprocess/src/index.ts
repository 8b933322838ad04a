import { definePlugin } from '@tenon/kernel'
import { Subprocess } from '@tenon/subprocess'
import { sweep } from './channel/sweep.ts'
import { LocalSubprocess } from './local-subprocess.ts'
import { RUNTIME_VERSION, Runtime } from './runtime.ts'
import { config, type Settings } from './settings.ts'
import { systemWorld } from './system-world.ts'
import type { World } from './world.ts'

export default definePlugin({
  name: 'local-subprocess',
  provides: [Subprocess],
  config,
  // Closing waits for the largest grace in use and `killWaitMs` behind it.
  budgets: { undoMs: 60_000 },
  activate(scope) {
    const { environment, spillDirectory, launcher, ...rest } = scope.config
    const settingsFor = ({ temporaryDirectory, memoryDirectories, isTemporaryDirectoryNamed, platform }: World): Settings => {
      const contents = spillDirectory ?? temporaryDirectory
      const isNamed = spillDirectory !== undefined || isTemporaryDirectoryNamed
      return {
        ...rest,
        spillDirectory: contents,
        pipeDirectories: isNamed ? [contents] : [...memoryDirectories, contents],
        launcher: launcher ?? (platform === 'win32' ? 'host' : 'process'),
      }
    }
    const runtime = scope.keep({
      key: 'processes',
      version: RUNTIME_VERSION,
      create() {
        const world = systemWorld()
        return new Runtime(world, settingsFor(world), scope.log)
      },
      dispose: (kept) => kept.close(),
    })
    const { world } = runtime
    runtime.adopt(settingsFor(world), scope.log)
    if (world.host === 1) scope.log.warn('the host is pid 1: nobody reaps the orphans of its commands; run it under an init')
    scope.spawn(async () => {
      const { owner, isAlive, memoryDirectories } = world
      const bases = new Set([runtime.settings.spillDirectory, ...memoryDirectories])
      const parts = { self: owner, isAlive, userId: process.getuid?.() }
      const removed = (await Promise.all([...bases].map((base) => sweep(base, parts)))).flat()
      if (removed.length > 0) scope.log.debug({ removed }, 'removed the directories of runtimes that were killed')
    })
    scope.provide(Subprocess, new LocalSubprocess(runtime, environment, scope.log))
  },
})
