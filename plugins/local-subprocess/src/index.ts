import { definePlugin } from '@tenon/kernel'
import { Subprocess } from '@tenon/subprocess'
import { sweep } from './channel/sweep.ts'
import { LocalSubprocess } from './local-subprocess.ts'
import { Runtime } from './runtime.ts'
import { config, type Settings } from './settings.ts'
import { systemWorld } from './system-world.ts'

/** Of the shape of `Runtime`: code of another version must not work on what this one made. */
const VERSION = 1

export default definePlugin({
  name: 'local-subprocess',
  provides: [Subprocess],
  config,
  // Closing waits for the largest grace in use and `killWaitMs` behind it.
  budgets: { undoMs: 60_000 },
  activate(scope) {
    const { environment, spillDirectory, ...rest } = scope.config
    const settingsFor = (temporaryDirectory: string): Settings => ({ ...rest, spillDirectory: spillDirectory ?? temporaryDirectory })
    const runtime = scope.keep({
      key: 'processes',
      version: VERSION,
      create() {
        const world = systemWorld()
        return new Runtime(world, settingsFor(world.temporaryDirectory), scope.log)
      },
      dispose: (kept) => kept.close(),
    })
    const { world } = runtime
    runtime.adopt(settingsFor(world.temporaryDirectory), scope.log)
    if (world.host === 1) scope.log.warn('the host is pid 1: nobody reaps the orphans of its commands; run it under an init')
    scope.spawn(async () => {
      const { owner, isAlive } = world
      const removed = await sweep(runtime.settings.spillDirectory, { self: owner, isAlive, userId: process.getuid?.() })
      if (removed.length > 0) scope.log.debug({ removed }, 'removed the directories of runtimes that were killed')
    })
    scope.provide(Subprocess, new LocalSubprocess(runtime, environment, scope.log))
  },
})
